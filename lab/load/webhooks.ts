import { expect, vi } from "vitest";
import * as z from "zod";
import type { Ledger } from "../../shared/ledger/ledger.ts";
import { listKeys } from "../../shared/ledger/query-index.ts";
import { deliveriesList } from "../../shared/ledger/schema.ts";
import { sleep } from "../../shared/platform/time.ts";
import { readDelivery } from "../../shared/webhooks/delivery.ts";
import { setEndpoint } from "../../shared/webhooks/endpoint.ts";
import { type Receiver, startReceiver } from "../../test/builders/webhooks/receiver.ts";
import { freePort } from "../../tools/local/loopback.ts";
import { type Client, createClient, orderRequest } from "./client.ts";
import { takeDeadLetters } from "./queues.ts";
import { reportResults, spread } from "./results.ts";
import { type LoadAccount, type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { expectNoUnexpectedErrors, strainOf } from "./unexpected-errors.ts";

const SLOW_MS = 4_000;
/** Less than one attempt may take, so that no webhook waits for an attempt to another endpoint. */
const HEALTHY_DELAY_MS_MAX = 3_000;
const PURCHASES_PER_KEY = 40;

/** A caller with an endpoint. */
type WebhookCaller = {
  readonly account: LoadAccount;
  readonly receiver: Receiver | undefined;
  /** The time of the response to each purchase, by reference. */
  readonly boughtAtMs: Map<string, number>;
};

const kinds = { healthy: 4, slow: 1, hanging: 1, failing: 1, dead: 1 } as const;
type Kind = keyof typeof kinds;

/**
 * Callers buy at a steady rate: first only those with healthy endpoints, then all. Some endpoints are slow, hang, fail
 * or refuse connections.
 */
export const runWebhooks = async (options: { readonly seconds: number; readonly perSecond: number }): Promise<void> => {
  const service = await startServiceProcess();
  const client = createClient(service.baseUrl);
  const callers: Record<Kind, WebhookCaller[]> = { healthy: [], slow: [], hanging: [], failing: [], dead: [] };
  try {
    for (const kind of kindNames) {
      while (callers[kind].length < kinds[kind]) callers[kind].push(await openCaller(service, kind, options));
    }
    await buyAtRate(client, callers.healthy, options);
    await vi.waitFor(() => expectAllDelivered(callers.healthy), { timeout: 10_000, interval: 50 });
    const alone = spread(delaysMs(callers.healthy));
    for (const { receiver, boughtAtMs } of callers.healthy) {
      boughtAtMs.clear();
      receiver?.received.splice(0);
    }

    await buyAtRate(client, Object.values(callers).flat(), options);
    await vi.waitFor(() => expectAllDelivered(callers.healthy), { timeout: 2 * HEALTHY_DELAY_MS_MAX, interval: 50 });
    const amongAll = spread(delaysMs(callers.healthy));
    expect(amongAll.maxMs).toBeLessThan(HEALTHY_DELAY_MS_MAX);
    // The slow endpoint gets all of its events too.
    await vi.waitFor(() => expectAllDelivered(callers.slow), { timeout: 240_000, interval: 500 });
    const slow = spread(delaysMs(callers.slow));
    // The others are down: some of their events were attempted, and all wait.
    for (const kind of ["hanging", "failing", "dead"] as const) {
      for (const { account, boughtAtMs } of callers[kind]) {
        const deliveries = await deliveriesOf(service.admin.ledger, account.accountId);
        expect(deliveries.length).toBe(boughtAtMs.size);
        expect(new Set(deliveries.map(({ state }) => state))).toEqual(new Set(["pending"]));
        const outcomes = deliveries.flatMap(({ attempts }) => attempts.map(({ outcome }) => outcome));
        expect(outcomes).toContain({ hanging: "timeout", failing: "status", dead: "ECONNREFUSED" }[kind]);
        expect(outcomes.length).toBeLessThan(boughtAtMs.size);
      }
    }
    expect(await takeDeadLetters(service.admin, "delivery")).toEqual([]);
    expectNoUnexpectedErrors(service);

    reportResults("webhooks", {
      "purchases of each caller": options.seconds * options.perSecond,
      "purchases per second": Object.values(callers).flat().length * options.perSecond,
      "healthy alone p50Ms": alone.p50Ms,
      "healthy alone maxMs": alone.maxMs,
      "healthy among all p50Ms": amongAll.p50Ms,
      "healthy among all p99Ms": amongAll.p99Ms,
      "healthy among all maxMs": amongAll.maxMs,
      "slow p50Ms": slow.p50Ms,
      "slow maxMs": slow.maxMs,
      ...strainOf(service),
    });
  } finally {
    client.close();
    for (const { receiver } of Object.values(callers).flat()) await receiver?.stop();
    await service.stop();
  }
};

const kindNames = Object.keys(kinds).filter((name): name is Kind => name in kinds);

const openCaller = async (
  { newAccount, admin }: ServiceProcess,
  kind: Kind,
  { seconds, perSecond }: { readonly seconds: number; readonly perSecond: number },
): Promise<WebhookCaller> => {
  const purchases = 2 * seconds * perSecond;
  const account = await newAccount({ naira: 100 * purchases, keys: Math.ceil(purchases / PURCHASES_PER_KEY) });
  const receiver = kind === "dead" ? undefined : await receiverOf(kind);
  const url = receiver?.url ?? `http://127.0.0.1:${await freePort()}/hook`;
  await setEndpoint(admin.endpoints, admin.addressRules, account.accountId, url);
  return { account, receiver, boughtAtMs: new Map() };
};

const receiverOf = (kind: Exclude<Kind, "dead">): Promise<Receiver> => {
  switch (kind) {
    case "healthy":
      return startReceiver();
    case "slow":
      return startReceiver((response) => void setTimeout(() => response.end("ok"), SLOW_MS));
    case "hanging":
      return startReceiver(() => {});
    case "failing":
      return startReceiver((response) => void response.writeHead(500).end());
  }
};

const buyAtRate = async (
  client: Client,
  callers: readonly WebhookCaller[],
  { seconds, perSecond }: { readonly seconds: number; readonly perSecond: number },
): Promise<void> => {
  const purchases: Promise<void>[] = [];
  for (let count = 0; count < seconds * perSecond; count += 1) {
    for (const caller of callers) purchases.push(buy(client, caller, count));
    await sleep(1_000 / perSecond);
  }
  await Promise.all(purchases);
};

const buy = async (client: Client, { account, boughtAtMs }: WebhookCaller, count: number): Promise<void> => {
  const body = { network: "mtn", amount: 50, phone_number: "08031234567" };
  const reply = await client.send(
    orderRequest("/vtu/airtime/purchase", account.keys[count % account.keys.length] ?? "", body),
  );
  if (reply.kind !== "answered" || reply.status !== 200) throw new Error(`A purchase failed: ${JSON.stringify(reply)}`);
  boughtAtMs.set(String(reply.headers["x-transaction-reference"]), Date.now());
};

const deliveriesOf = async (ledger: Ledger, accountId: string) => {
  const keys = await listKeys(ledger, deliveriesList(accountId), { from: "0000", to: "9999" });
  const deliveries = await Promise.all(keys.map(({ pk }) => readDelivery(ledger, pk)));
  return deliveries.filter((delivery) => delivery !== undefined);
};

const event = z.object({ data: z.object({ reference: z.string() }) });

/** The time of the first delivery of each event. */
const receivedAtMs = ({ receiver }: WebhookCaller): ReadonlyMap<string, number> => {
  const first = new Map<string, number>();
  for (const { body, atMs } of receiver?.received ?? []) {
    const { reference } = event.parse(JSON.parse(body)).data;
    if (!first.has(reference)) first.set(reference, atMs);
  }
  return first;
};

const expectAllDelivered = (callers: readonly WebhookCaller[]): void => {
  for (const caller of callers) {
    const received = receivedAtMs(caller);
    expect([...caller.boughtAtMs.keys()].filter((reference) => !received.has(reference))).toEqual([]);
  }
};

/** From the response to a purchase to the first delivery of its event. */
const delaysMs = (callers: readonly WebhookCaller[]): number[] =>
  callers.flatMap((caller) => {
    const received = receivedAtMs(caller);
    return [...caller.boughtAtMs].map(([reference, atMs]) => Math.max(0, (received.get(reference) ?? Infinity) - atMs));
  });
