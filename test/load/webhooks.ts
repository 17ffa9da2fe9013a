import { createServer } from "node:http";
import { expect, vi } from "vitest";
import * as z from "zod";
import type { Ledger } from "../../shared/ledger/ledger.ts";
import { ownedKeys } from "../../shared/ledger/query-index.ts";
import { deliveriesOwner } from "../../shared/ledger/schema.ts";
import { sleep } from "../../shared/platform/time.ts";
import { readDelivery } from "../../shared/webhooks/delivery.ts";
import { setEndpoint } from "../../shared/webhooks/endpoint.ts";
import { type Receiver, startReceiver } from "../builders/receiver.ts";
import { expectNothingBroke, strainOn } from "./broken.ts";
import { type Client, newClient, order } from "./client.ts";
import { reportFigures, spread } from "./figures.ts";
import { deadLetters } from "./queue.ts";
import { type LoadAccount, type ServiceProcess, startServiceProcess } from "./service-process.ts";

const SLOW_MS = 4_000;
/** Less than one post may take: nobody waits for a post of another app. */
const HEALTHY_DELAY_MS_MAX = 3_000;
const PURCHASES_PER_KEY = 40;

/** An app with an endpoint, and when it was told what. */
type App = {
  readonly account: LoadAccount;
  readonly receiver: Receiver | undefined;
  /** When the answer to each purchase came, by our reference. */
  readonly boughtAtMs: Map<string, number>;
};

const kinds = { healthy: 4, slow: 1, hanging: 1, failing: 1, dead: 1 } as const;
type Kind = keyof typeof kinds;

/**
 * Apps buy at a steady rate: first only those with healthy endpoints, then all of them. Some endpoints are slow, hang, fail or are
 * not there.
 */
export const runWebhooks = async (wish: { readonly seconds: number; readonly aSecond: number }): Promise<void> => {
  const service = await startServiceProcess();
  const client = newClient(service.baseUrl);
  const apps: Record<Kind, App[]> = { healthy: [], slow: [], hanging: [], failing: [], dead: [] };
  try {
    for (const kind of kindNames) {
      while (apps[kind].length < kinds[kind]) apps[kind].push(await newApp(service, kind, wish));
    }
    await buyAtRate(client, apps.healthy, wish);
    await vi.waitFor(() => expectAllTold(apps.healthy), { timeout: 10_000, interval: 50 });
    const alone = spread(delaysMs(apps.healthy));
    for (const { receiver, boughtAtMs } of apps.healthy) {
      boughtAtMs.clear();
      receiver?.received.splice(0);
    }

    await buyAtRate(client, Object.values(apps).flat(), wish);
    await vi.waitFor(() => expectAllTold(apps.healthy), { timeout: 2 * HEALTHY_DELAY_MS_MAX, interval: 50 });
    const beside = spread(delaysMs(apps.healthy));
    expect(beside.maxMs).toBeLessThan(HEALTHY_DELAY_MS_MAX);
    // The others' events go on all the while: each of the slow one's arrives, and each of the hanging one's is tried.
    await vi.waitFor(() => expectAllTold([...apps.slow, ...apps.hanging, ...apps.failing]), {
      timeout: 240_000,
      interval: 500,
    });
    const told = spread(delaysMs(apps.slow));
    for (const { account, boughtAtMs } of apps.dead) {
      const deliveries = await deliveriesOf(service.desk.ledger, account.accountId);
      expect(deliveries.length).toBe(boughtAtMs.size);
      for (const { state, attempts } of deliveries) {
        expect(state).toBe("pending");
        expect(attempts.map(({ outcome }) => outcome)).toContain("ECONNREFUSED");
      }
    }
    expect(await deadLetters(service.desk, "delivery")).toEqual([]);
    expectNothingBroke(service);

    reportFigures("webhooks", {
      "purchases of each app": wish.seconds * wish.aSecond,
      "purchases a second": Object.values(apps).flat().length * wish.aSecond,
      "healthy alone p50Ms": alone.p50Ms,
      "healthy alone maxMs": alone.maxMs,
      "healthy beside p50Ms": beside.p50Ms,
      "healthy beside p99Ms": beside.p99Ms,
      "healthy beside maxMs": beside.maxMs,
      "slow p50Ms": told.p50Ms,
      "slow maxMs": told.maxMs,
      ...strainOn(service),
    });
  } finally {
    client.close();
    for (const { receiver } of Object.values(apps).flat()) await receiver?.stop();
    await service.stop();
  }
};

const kindNames = Object.keys(kinds).filter((name): name is Kind => name in kinds);

const newApp = async (
  { newAccount, desk }: ServiceProcess,
  kind: Kind,
  { seconds, aSecond }: { readonly seconds: number; readonly aSecond: number },
): Promise<App> => {
  const purchases = 2 * seconds * aSecond;
  const account = await newAccount({ naira: 100 * purchases, keys: Math.ceil(purchases / PURCHASES_PER_KEY) });
  const receiver = kind === "dead" ? undefined : await receiverOf(kind);
  const url = receiver?.url ?? `http://127.0.0.1:${await closedPort()}/hook`;
  await setEndpoint(desk.endpoints, desk.addressRules, account.accountId, url);
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

/** A port at which nobody listens. */
const closedPort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = z.object({ port: z.number() }).parse(server.address());
  await new Promise<void>((closed) => server.close(() => closed()));
  return port;
};

const buyAtRate = async (
  client: Client,
  apps: readonly App[],
  { seconds, aSecond }: { readonly seconds: number; readonly aSecond: number },
): Promise<void> => {
  const purchases: Promise<void>[] = [];
  for (let count = 0; count < seconds * aSecond; count += 1) {
    for (const app of apps) purchases.push(buy(client, app, count));
    await sleep(1_000 / aSecond);
  }
  await Promise.all(purchases);
};

const buy = async (client: Client, { account, boughtAtMs }: App, count: number): Promise<void> => {
  const body = { network: "mtn", amount: 50, phone_number: "08031234567" };
  const reply = await client.send(
    order("/vtu/airtime/purchase", account.keys[count % account.keys.length] ?? "", body),
  );
  if (reply.kind !== "answered" || reply.status !== 200) throw new Error(`A purchase failed: ${JSON.stringify(reply)}`);
  boughtAtMs.set(String(reply.headers["x-transaction-reference"]), Date.now());
};

const deliveriesOf = async (ledger: Ledger, accountId: string) => {
  const keys = await ownedKeys(ledger, deliveriesOwner(accountId), { from: "0000", to: "9999" });
  const deliveries = await Promise.all(keys.map(({ pk }) => readDelivery(ledger, pk)));
  return deliveries.filter((delivery) => delivery !== undefined);
};

const event = z.object({ data: z.object({ reference: z.string() }) });

/** When each event came first. */
const toldAtMs = ({ receiver }: App): ReadonlyMap<string, number> => {
  const first = new Map<string, number>();
  for (const { body, atMs } of receiver?.received ?? []) {
    const { reference } = event.parse(JSON.parse(body)).data;
    if (!first.has(reference)) first.set(reference, atMs);
  }
  return first;
};

const expectAllTold = (apps: readonly App[]): void => {
  for (const app of apps) {
    const told = toldAtMs(app);
    expect([...app.boughtAtMs.keys()].filter((reference) => !told.has(reference))).toEqual([]);
  }
};

/** From a purchase's answer to the arrival of its event. */
const delaysMs = (apps: readonly App[]): number[] =>
  apps.flatMap((app) => {
    const told = toldAtMs(app);
    return [...app.boughtAtMs].map(([reference, atMs]) => Math.max(0, (told.get(reference) ?? Infinity) - atMs));
  });
