import * as z from "#zod";
import { AIRTIME_NAIRA, buyAirtime, DELIVERED, DELIVERED_LATER, newCaller } from "../caller.ts";
import type { Simulator, Stage } from "../context.ts";
import { assertThat, found, type Outcome } from "../outcome.ts";
import { writeSimulatorSettings } from "../simulator/client.ts";
import { newSecret, rotateWebhookToken, type SetUp } from "./set-up.ts";
import { buyLater } from "./upstream-events.ts";

/** Rotates the upstream's key and the webhook token, and buys at each moment between the two sides of a rotation. */
export const rotateSecrets = async (
  simulator: Simulator,
  stage: Stage,
  { address, agreed }: SetUp,
): Promise<Outcome> => {
  const caller = await newCaller(stage, { address, naira: 3 * AIRTIME_NAIRA });
  const setUpstream = (changes: Partial<typeof agreed>) =>
    writeSimulatorSettings(simulator.SimulatorTable, { ...agreed, ...changes });

  // The functions still have the previous key in memory; the upstream refuses it from now on.
  const live_key = newSecret();
  await stage.admin(
    z.object({ changed: z.literal(true) }),
    ["secrets", "set", "upstream-key", "--why", "acceptance"],
    live_key,
  );
  await setUpstream({ live_key });
  const bought = await buyAirtime(stage, caller.keys[0] ?? "", {
    reference: `rotated-${crypto.randomUUID()}`,
    phoneNumber: DELIVERED,
  });
  assertThat(
    "status" in bought && bought.status === "success",
    `an order after the rotation of the key was answered ${JSON.stringify(bought)}`,
  );

  const webhook_url = await rotateWebhookToken(stage);
  const atPreviousUrl = await buyLater(stage, caller, DELIVERED_LATER);
  assertThat(atPreviousUrl === "success", `an event at the previous URL settled an order as ${atPreviousUrl}`);
  await setUpstream({ live_key, webhook_url });
  const atNewUrl = await buyLater(stage, caller, DELIVERED_LATER);
  assertThat(atNewUrl === "success", `an event at the new URL settled an order as ${atNewUrl}`);
  return found("the upstream's key and the webhook token were rotated; no order and no event was lost");
};
