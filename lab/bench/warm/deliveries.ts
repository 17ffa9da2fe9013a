import { MINUTE_MS } from "../../../shared/contract/values/durations.ts";
import { pkOfReference } from "../../../shared/ledger/transaction.ts";
import { type DeliveryQueue, deliveryQueue } from "../../../shared/webhooks/delivery-queue.ts";
import { setEndpoint } from "../../../shared/webhooks/endpoint.ts";
import { until } from "../../../test/builders/run/until.ts";
import { anOrder, BUY_DATA } from "../../../test/builders/service/service.ts";
import { type Receiver, startReceiver } from "../../../test/builders/webhooks/receiver.ts";
import { type Client, createClient, orderRequest } from "../../load/client.ts";
import { inParallel } from "../../load/results.ts";
import { type ServiceProcess, startServiceProcess } from "../../load/service-process.ts";
import { sizes, times } from "../extent.ts";
import type { Report } from "../part.ts";
import { median } from "../statistics.ts";

const ENDPOINTS = sizes([1, 10, 100]);
export const DELIVERIES = times(300, 10);
const ROUNDS = times(3);
/** Below the rate limit of a key. */
const PURCHASES_PER_KEY = 40;
const AT_ONCE = 8;

export type DeliveryResults = { readonly endpoints: number; readonly perSecond: number };

/** Accounts with an endpoint each, and their transactions: together as many as the deliveries of one round. */
type Group = {
  readonly receivers: readonly Receiver[];
  readonly bought: readonly { readonly accountId: string; readonly transaction: string }[];
};

/**
 * Measures how fast a full delivery queue is emptied. The service runs in its own process, the endpoints in this one.
 */
export const measureDeliveries = async (report: Report): Promise<readonly DeliveryResults[]> => {
  const service = await startServiceProcess();
  const client = createClient(service.baseUrl);
  const queue = deliveryQueue(service.admin.sqs, service.admin.target.environment.DELIVERY_QUEUE_URL);
  const groups: Group[] = [];
  try {
    for (const endpoints of ENDPOINTS) groups.push(await newGroup(service, client, endpoints));
    report(`${ENDPOINTS.join(", ")} endpoints are ready; ${ROUNDS} rounds of ${DELIVERIES} deliveries to each`);
    const rates: number[][] = groups.map(() => []);
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [position, group] of groups.entries()) {
        const perSecond = await deliverAll(queue, group, `round-${round}`);
        // The first round warms up.
        if (round > 0) rates[position]?.push(perSecond);
      }
    }
    return ENDPOINTS.map((endpoints, position) => ({ endpoints, perSecond: median(rates[position] ?? []) }));
  } finally {
    client.close();
    for (const receiver of groups.flatMap(({ receivers }) => receivers)) await receiver.stop();
    await service.stop();
  }
};

const newGroup = async (service: ServiceProcess, client: Client, endpoints: number): Promise<Group> => {
  const { admin } = service;
  const each = DELIVERIES / endpoints;
  const receivers: Receiver[] = [];
  const bought: Group["bought"][number][] = [];
  for (let count = 0; count < endpoints; count += 1) {
    const keys = Math.ceil(each / PURCHASES_PER_KEY);
    const account = await service.newAccount({ naira: 0, keys, mode: "test" });
    const { accountId } = account;
    await inParallel(each, AT_ONCE, async (index) => {
      const key = account.keys[index % keys] ?? "";
      bought.push({ accountId, transaction: await buy(client, key) });
    });
    // Set after the purchases, so that they send no webhooks themselves.
    const receiver = await startReceiver();
    await setEndpoint(admin.endpoints, admin.addressRules, accountId, receiver.url);
    receivers.push(receiver);
  }
  return { receivers, bought };
};

const buy = async (client: Client, key: string): Promise<string> => {
  const reply = await client.send(orderRequest(BUY_DATA, key, anOrder()));
  const reference = reply.kind === "answered" ? String(reply.headers["x-transaction-reference"]) : "";
  const pk = pkOfReference(reference);
  if (pk === undefined) throw new Error(`A purchase failed: ${JSON.stringify(reply)}`);
  return pk;
};

/** Enqueues all of a group's transactions again and measures from the first message to the last delivery. */
const deliverAll = async (queue: DeliveryQueue, { receivers, bought }: Group, repeat: string): Promise<number> => {
  for (const { received } of receivers) received.splice(0);
  const arrived = (): number => receivers.reduce((total, { received }) => total + received.length, 0);
  const begunMs = Date.now();
  await inParallel(bought.length, AT_ONCE, async (index) => {
    const one = bought[index];
    if (one)
      await queue.send(
        { event: "transaction.updated", transaction_pk: one.transaction, status: "success", endpoint: "1", repeat },
        one.accountId,
      );
  });
  const options = { timeoutMs: MINUTE_MS, everyMs: 10 };
  await until(`${bought.length} deliveries`, () => arrived() >= bought.length, options);
  const lastMs = Math.max(...receivers.flatMap(({ received }) => received.map(({ atMs }) => atMs)));
  return (bought.length * 1_000) / (lastMs - begunMs);
};
