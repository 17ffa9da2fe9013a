import { randomUUID } from "node:crypto";
import { anOrder, BUY_DATA } from "../../../test/builders/service/service.ts";
import { createClient, orderRequest, type Reply } from "../../load/client.ts";
import { inParallel } from "../../load/results.ts";
import { times } from "../extent.ts";
import { type LambdaProcess, purchaseEvent } from "../lambda-process.ts";
import type { ServerProcess } from "../server-process.ts";
import { quantile } from "../statistics.ts";

/** What a stack sells in its turn of a round. */
export const handlerOrders = times(200, 2);
export const serverLoad = { orders: times(400, 16), concurrency: 16 } as const;

/** Below the rate limit of 60 per minute. */
const ORDERS_PER_KEY = 50;

/** One stack's turn in a round. */
export type Slice = {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the process per purchase. */
  readonly cpuUs: number;
};

export const keysFor = (orders: number): number => Math.ceil(orders / ORDERS_PER_KEY);

const keyOf = (keys: readonly string[], index: number): string => keys[index % keys.length] ?? "";

/** Buys from a server, each time with a new reference. All purchases must be delivered. */
export const buyFromServer = async (server: ServerProcess, keys: readonly string[]): Promise<Slice> => {
  const client = createClient(`${server.origin}/v1`);
  const replies: Reply[] = [];
  const cpuBeforeUs = await server.cpuUs();
  const startMs = performance.now();
  await inParallel(serverLoad.orders, serverLoad.concurrency, async (index) => {
    const order = anOrder({ reference: randomUUID() });
    replies.push(await client.send(orderRequest(BUY_DATA, keyOf(keys, index), order)));
  });
  const durationMs = performance.now() - startMs;
  const cpuUs = (await server.cpuUs()) - cpuBeforeUs;
  client.close();
  for (const reply of replies) assertDelivered(reply);
  const durationsMs = replies.map((reply) => reply.durationMs);
  return sliceOf(durationsMs, durationMs, cpuUs);
};

/** Buys from a handler, one purchase after the other. */
export const buyFromHandler = async (lambda: LambdaProcess, keys: readonly string[]): Promise<Slice> => {
  const events = Array.from({ length: handlerOrders }, (_, index) => purchaseEvent(keyOf(keys, index)));
  const { durationsMs, cpuUs } = await lambda.invoke(events);
  const durationMs = durationsMs.reduce((sum, one) => sum + one, 0);
  return sliceOf(durationsMs, durationMs, cpuUs);
};

const sliceOf = (durationsMs: readonly number[], durationMs: number, cpuUs: number): Slice => ({
  perSecond: (durationsMs.length / durationMs) * 1_000,
  p50Ms: quantile(durationsMs, 0.5),
  p99Ms: quantile(durationsMs, 0.99),
  cpuUs: cpuUs / durationsMs.length,
});

/** Fails unless the purchase succeeded. */
const assertDelivered = (reply: Reply): void => {
  if (reply.kind === "answered" && reply.status === 200 && reply.text.includes('"status":"success"')) return;
  throw new Error(`A purchase was not delivered: ${JSON.stringify(reply)}`);
};
