import { randomBytes } from "node:crypto";
import * as z from "#zod";
import { ownAddress } from "../caller.ts";
import type { Simulator, Stage } from "../context.ts";
import { callable } from "../emulator.ts";
import { writeSimulatorSettings } from "../simulator/client.ts";
import type { SimulatorSettings } from "../simulator/table.ts";

/** What the stage and its simulator agree on, and the address from which this machine calls the stage. */
export type SetUp = { readonly address: string; readonly agreed: SimulatorSettings };

export const newSecret = (): string => randomBytes(32).toString("base64url");

const changed = z.object({ changed: z.literal(true) });

/** Sets the secrets as docs/deployment.md says, and stores the values of the simulator in its table. */
export const setUp = async (simulator: Simulator, stage: Stage): Promise<SetUp> => {
  const liveKey = newSecret();
  const webhookSecret = newSecret();
  await stage.admin(changed, ["secrets", "set", "upstream-key", "--why", "acceptance"], liveKey);
  await stage.admin(changed, ["secrets", "set", "upstream-webhook-hmac", "--why", "acceptance"], webhookSecret);
  const agreed = { live_key: liveKey, webhook_secret: webhookSecret, webhook_url: await rotateWebhookToken(stage) };
  await writeSimulatorSettings(simulator.SimulatorTable, agreed);
  return { address: await ownAddress(stage), agreed };
};

/** Resolves with the new URL for the upstream's events. */
export const rotateWebhookToken = async (stage: Stage): Promise<string> => {
  const rotated = z.extend(changed, { webhook_url: z.url() });
  return callable(
    (await stage.admin(rotated, ["secrets", "rotate", "webhook-token", "--why", "acceptance"])).webhook_url,
  );
};
