import { pkOfReference } from "../../../shared/ledger/transaction.ts";
import { type DeliveryQueue, deliveryQueue } from "../../../shared/webhooks/delivery-queue.ts";
import { setEndpoint } from "../../../shared/webhooks/endpoint.ts";
import { type Receiver, startReceiver } from "../../builders/receiver.ts";
import { anOrder, BUY_DATA } from "../../builders/service.ts";
import { until } from "../../builders/until.ts";
import { type Client, createClient, orderRequest } from "../../load/client.ts";
import { inParallel } from "../../load/results.ts";
import { type ServiceProcess, startServiceProcess } from "../../load/service-process.ts";
import type { Say } from "../part.ts";
import { median } from "../samples.ts";

const ENDPOINTS = [1, 10, 100] as const;
export const DELIVERIES = 300;
const ROUNDS = 3;
/** Below what a key may ask for in a minute. */
const PURCHASES_PER_KEY = 40;
const AT_ONCE = 8;

export type DeliveryFigures = { readonly endpoints: number; readonly perSecond: number };

/** Accounts with an endpoint each, and what they bought: together as many transactions as are told in one round. */
type Group = {
  readonly receivers: readonly Receiver[];
  readonly bought: readonly { readonly accountId: string; readonly transaction: string }[];
};

/** How fast a queue full of deliveries is emptied. The service is a process of its own; the endpoints are in this one. */
export const measureDeliveries = async (say: Say): Promise<readonly DeliveryFigures[]> => {
  const service = await startServiceProcess();
  const client = createClient(service.baseUrl);
  const queue = deliveryQueue(service.admin.sqs, service.admin.target.environment.DELIVERY_QUEUE_URL);
  const groups: Group[] = [];
  try {
    for (const endpoints of ENDPOINTS) groups.push(await newGroup(service, client, endpoints));
    say(`${ENDPOINTS.join(", ")} endpoints stand; ${ROUNDS} rounds of ${DELIVERIES} deliveries to each`);
    const rates: number[][] = groups.map(() => []);
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [position, group] of groups.entries()) {
        const perSecond = await tellAll(queue, group, `round-${round}`);
        // The first makes the code warm.
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
    // Set only now: the purchases themselves are told to nobody.
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

/** Tells all of a group's transactions once more; from the first message to the last arrival. */
const tellAll = async (queue: DeliveryQueue, { receivers, bought }: Group, repeat: string): Promise<number> => {
  for (const { received } of receivers) received.splice(0);
  const arrived = (): number => receivers.reduce((total, { received }) => total + received.length, 0);
  const begunMs = Date.now();
  await inParallel(bought.length, AT_ONCE, async (index) => {
    const one = bought[index];
    if (one) await queue.send({ transaction: one.transaction, status: "success", repeat }, one.accountId);
  });
  const patience = { patienceMs: 60_000, everyMs: 10 };
  await until(`${bought.length} deliveries`, () => arrived() >= bought.length, patience);
  const lastMs = Math.max(...receivers.flatMap(({ received }) => received.map(({ atMs }) => atMs)));
  return (bought.length * 1_000) / (lastMs - begunMs);
};
