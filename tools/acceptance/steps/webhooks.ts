import * as z from "#zod";
import { AIRTIME_NAIRA, buyAirtime, DELIVERED, FAILED_LATER, newCaller } from "../caller.ts";
import type { Context, Simulator, Stage } from "../context.ts";
import { callable } from "../emulator.ts";
import { AcceptanceError, assertThat, found, type Outcome } from "../outcome.ts";
import { receivedWebhooks, writeReceiver } from "../simulator/client.ts";
import type { ReceivedWebhook } from "../simulator/table.ts";
import type { SetUp } from "./set-up.ts";

const WHY = ["--why", "acceptance"] as const;
/** The retry follows after 5 s, and a function that starts may miss its first attempt: then a minute later. */
const RECEIVED_MS_MAX = 150_000;
const POLL_MS = 1_000;

const added = z.object({ endpoint: z.string(), webhook_secret: z.string() });
const removed = z.object({ endpoint: z.string() });
const deliveriesOf = z.object({
  deliveries: z.array(
    z.object({
      reference: z.nullable(z.string()),
      state: z.string(),
      attempts: z.array(z.object({ outcome: z.string(), http_status: z.optional(z.int()) })),
    }),
  ),
});

/** An order, the status that its webhook must say, and how many times the webhook must come. */
type Expected = { readonly reference: string; readonly status: string; readonly count: number };

/**
 * Gives an account an endpoint, whose receiver refuses the first webhook: those of a delivered order and of a refunded one
 * must come, signed, and the first of them again.
 */
export const receiveWebhooks = async (
  { wait }: Context,
  simulator: Simulator,
  stage: Stage,
  { address }: SetUp,
): Promise<Outcome> => {
  const { accountId, keys } = await newCaller(stage, { address, naira: 2 * AIRTIME_NAIRA });
  const token = crypto.randomUUID();
  const url = `${callable(simulator.ReceiverUrl)}/${token}`;
  const { endpoint, webhook_secret } = await stage.admin(added, ["webhook", "add", accountId, url, ...WHY]);
  await writeReceiver(simulator.SimulatorTable, token, webhook_secret);

  /** Buys, and waits until its webhook has come that many times. */
  const buy = async (phoneNumber: string, status: string, count: number): Promise<Expected> => {
    const order = { reference: `webhook-${crypto.randomUUID()}`, phoneNumber };
    const bought = await buyAirtime(stage, keys[0] ?? "", order);
    assertThat("reference" in bought, `an order with a webhook was answered ${JSON.stringify(bought)}`);
    const expected = { reference: bought.reference, status, count };
    for (const untilMs = Date.now() + RECEIVED_MS_MAX; ; ) {
      const received = await receivedWebhooks(simulator.SimulatorTable, token);
      if (received.some(({ fault }) => fault !== "") || countOf(received, expected) >= count) return expected;
      if (Date.now() > untilMs) throw await notReceived(stage, accountId, expected, countOf(received, expected));
      await wait(POLL_MS, `the webhook of ${expected.reference}`);
    }
  };
  // One after the other, so that the first webhook is the one that is refused.
  const orders = [await buy(DELIVERED, "success", 2), await buy(FAILED_LATER, "failed", 1)];
  await stage.admin(removed, ["webhook", "remove", accountId, endpoint, ...WHY]);
  const received = await receivedWebhooks(simulator.SimulatorTable, token);
  assertReceived(received, orders);
  const [first, second] = received;
  const retriedS = Math.round(((second?.at_ms ?? 0) - (first?.at_ms ?? 0)) / 1_000);
  return found(
    `the webhooks of a delivered and a refunded order came, each signed with the endpoint's secret; the one that was refused came again after ${retriedS} s`,
  );
};

const countOf = (received: readonly ReceivedWebhook[], { reference }: Pick<Expected, "reference">): number =>
  received.filter((webhook) => webhook.reference === reference).length;

/** Throws unless all that came are the webhooks of these orders. A webhook may come more often than it must. */
export const assertReceived = (received: readonly ReceivedWebhook[], orders: readonly Expected[]): void => {
  for (const { fault, webhook_id } of received) {
    assertThat(fault === "", `the webhook ${webhook_id} came, and its receiver refuses it: ${fault}`);
  }
  for (const { reference, status } of received) {
    const order = orders.find((each) => each.reference === reference);
    assertThat(order !== undefined, `a webhook came of ${reference}, which is no order of the endpoint's account`);
    assertThat(order.status === status, `the webhook of ${reference} says ${status} instead of ${order.status}`);
  }
  for (const order of orders) {
    const count = countOf(received, order);
    assertThat(count >= order.count, `the webhook of ${order.reference} came ${count} times instead of ${order.count}`);
  }
  const ids = new Map(received.map(({ webhook_id, reference }) => [webhook_id, reference]));
  assertThat(ids.size === orders.length, `the webhooks of ${orders.length} orders have ${ids.size} ids`);
};

/** What the service has on record about a webhook that did not come. */
const notReceived = async (
  { admin }: Stage,
  accountId: string,
  { reference, count: wanted }: Expected,
  count: number,
): Promise<AcceptanceError> => {
  const { deliveries } = await admin(deliveriesOf, ["deliveries", "list", accountId]);
  const [delivery] = deliveries.filter((each) => each.reference === reference);
  const attempts = delivery?.attempts.map(({ outcome, http_status }) => http_status ?? outcome) ?? [];
  const why =
    delivery === undefined
      ? "The service made no attempt: read the logs of enqueue-webhooks and deliver-webhook"
      : `It is ${delivery.state} after the attempts [${attempts.join(", ")}]: read the log of deliver-webhook`;
  const times = `${count} times instead of ${wanted} in ${RECEIVED_MS_MAX / 1_000} s`;
  return new AcceptanceError(`The webhook of ${reference} came ${times}. ${why}`);
};
