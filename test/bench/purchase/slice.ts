import { randomUUID } from "node:crypto";
import { anOrder, BUY_DATA } from "../../builders/service.ts";
import { createClient, orderRequest, type Reply } from "../../load/client.ts";
import { inParallel } from "../../load/results.ts";
import type { ServerProcess } from "../server-process.ts";
import { quantile } from "../statistics.ts";

/** Below the rate limit of 60 per minute. */
const ORDERS_PER_KEY = 50;

/** One server's turn in a round. */
export type Slice = {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the server process per purchase. */
  readonly cpuUs: number;
};

export const keysFor = (orders: number): number => Math.ceil(orders / ORDERS_PER_KEY);

/** Places the orders of one slice, each with a new reference, and measures them. All must be delivered. */
export const runSlice = async (
  server: ServerProcess,
  keys: readonly string[],
  load: { readonly orders: number; readonly concurrency: number },
): Promise<Slice> => {
  const client = createClient(`${server.origin}/v1`);
  const replies: Reply[] = [];
  const cpuBeforeUs = await server.cpuUs();
  const startMs = performance.now();
  await inParallel(load.orders, load.concurrency, async (index) => {
    const key = keys[index % keys.length] ?? "";
    replies.push(await client.send(orderRequest(BUY_DATA, key, aNewOrder())));
  });
  const durationMs = performance.now() - startMs;
  const cpuUs = (await server.cpuUs()) - cpuBeforeUs;
  client.close();
  for (const reply of replies) assertDelivered(reply);
  const timesMs = replies.map((reply) => reply.durationMs);
  return {
    perSecond: (load.orders / durationMs) * 1_000,
    p50Ms: quantile(timesMs, 0.5),
    p99Ms: quantile(timesMs, 0.99),
    cpuUs: cpuUs / load.orders,
  };
};

/** An order with a new reference. */
export const aNewOrder = () => anOrder({ reference: randomUUID() });

/** Fails unless the purchase succeeded. */
export const assertDelivered = (reply: Reply): void => {
  if (reply.kind === "answered" && reply.status === 200 && reply.text.includes('"status":"success"')) return;
  throw new Error(`A purchase was not delivered: ${JSON.stringify(reply)}`);
};
