import { randomUUID } from "node:crypto";
import { newClient, order, type Reply } from "../../load/client.ts";
import { quantile } from "../samples.ts";
import type { ServerProcess } from "../server-process.ts";

export const PURCHASE_PATH = "/vtu/data/purchase";
/** Of a key that nobody meets the limit with: 60 requests a minute are allowed. */
const ORDERS_A_KEY = 50;

/** One server's turn in a round. */
export type Slice = {
  readonly perSecond: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** Of the server's own process, for one purchase. */
  readonly cpu_us: number;
};

export const keysFor = (orders: number): number => Math.ceil(orders / ORDERS_A_KEY);

/** Buys so often, each time under a reference of its own, and weighs what that took. All must be delivered. */
export const runSlice = async (
  server: ServerProcess,
  keys: readonly string[],
  load: { readonly orders: number; readonly concurrency: number },
): Promise<Slice> => {
  const client = newClient(`${server.origin}/v1`);
  const replies: Reply[] = [];
  let sent = 0;
  const caller = async (): Promise<void> => {
    while (sent < load.orders) {
      const key = keys[sent % keys.length] ?? "";
      sent += 1;
      replies.push(await client.send(order(PURCHASE_PATH, key, anOrder())));
    }
  };
  const cpuBefore_us = await server.cpu_us();
  const begun = performance.now();
  await Promise.all(Array.from({ length: load.concurrency }, caller));
  const duration_ms = performance.now() - begun;
  const cpu_us = (await server.cpu_us()) - cpuBefore_us;
  client.close();
  for (const reply of replies) assertDelivered(reply);
  const times_ms = replies.map((reply) => reply.duration_ms);
  return {
    perSecond: (load.orders / duration_ms) * 1_000,
    p50_ms: quantile(times_ms, 0.5),
    p99_ms: quantile(times_ms, 0.99),
    cpu_us: cpu_us / load.orders,
  };
};

export const anOrder = () => ({ network_id: 1, plan_id: 101, phone_number: "08031234567", reference: randomUUID() });

/** Speed without delivery is no result. */
export const assertDelivered = (reply: Reply): void => {
  if (reply.kind === "answered" && reply.status === 200 && reply.text.includes('"status":"success"')) return;
  throw new Error(`A purchase was not delivered: ${JSON.stringify(reply)}`);
};
