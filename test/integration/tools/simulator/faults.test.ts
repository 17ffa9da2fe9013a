import { expect, test } from "vitest";
import type { Fault } from "../../../../tools/simulator/faults.ts";
import { aSimulator, LIVE_KEY, MTN_1GB, SOME_PHONE } from "../../../builders/upstream/upstream-simulator.ts";

/** Goal: the simulator injects the faults that it is given. */
test.for<[string, Fault, number, Record<string, string>, number]>([
  ["a status", { kind: "status", status: 500 }, 500, { "x-ratelimit-limit": "60" }, 0],
  ["a status after the order", { kind: "status", status: 504, body: { a: 1 }, takes_order: true }, 504, {}, 1],
  ["an HTML page", { kind: "html" }, 200, { "content-type": "text/html" }, 0],
  [
    "an exceeded rate limit",
    { kind: "rate_limited", retry_after_s: 9 },
    429,
    { "retry-after": "9", "x-ratelimit-remaining": "0" },
    0,
  ],
  ["an empty body", { kind: "empty", takes_order: true }, 200, { "content-length": "0" }, 1],
  ["a body of 3,000,000 bytes", { kind: "huge", bytes: 3_000_000 }, 200, { "content-length": "3000000" }, 0],
  [
    "a custom redirect",
    { kind: "custom", status: 307, headers: { Location: "/x" }, body: "?" },
    307,
    { location: "/x" },
    0,
  ],
])("a fault with a count of 1 answers one request with %s", async ([, fault, status, headers, orders]) => {
  const { baseUrl, buy, state } = await aSimulator();
  state.faults.add({ ...fault, path: "/vtu/data/purchase", times: 1 });
  const response = await fetch(`${baseUrl}/vtu/data/purchase`, {
    ...{ method: "POST", redirect: "manual", body: JSON.stringify({ ...MTN_1GB, phone_number: SOME_PHONE }) },
    headers: { "X-API-KEY": LIVE_KEY, "Content-Type": "application/json" },
  });
  const bytes = (await response.arrayBuffer()).byteLength;
  expect(response.status).toBe(status);
  expect(Object.fromEntries(response.headers)).toMatchObject(headers);
  if (fault.kind === "huge") expect(bytes).toBe(fault.bytes);
  expect(state.purchases.length).toBe(orders);
  expect((await buy()).status).toBe(200);
});

test("a connection dropped after the order leaves an order, and one dropped before reading the request leaves none", async () => {
  const { buy, state } = await aSimulator();
  state.faults.add({ kind: "drop_before_reading", times: 1 }, { kind: "drop_after_order", times: 1 });
  await expect(buy({ reference: "r-1" })).rejects.toThrow("fetch failed");
  expect([state.purchases, state.requests]).toEqual([[], []]);
  await expect(buy({ reference: "r-1" })).rejects.toThrow("fetch failed");
  expect(state.purchases).toMatchObject([{ reference: "r-1", status: "success" }]);
});

test("a delay begins after the order, combines with another fault, and without a count affects every request", async () => {
  const { check, get, state } = await aSimulator();
  state.faults.add(
    { kind: "delay", delay_ms: 40, path: "/identity" },
    { kind: "status", status: 503, times: 1, method: "POST" },
  );
  for (const status of [503, 200, 200]) {
    const startMs = Date.now();
    expect((await check("12345678901")).status).toBe(status);
    const order = status === 200 ? state.purchases.at(-1) : undefined;
    expect(Date.now() - (order === undefined ? startMs : Date.parse(order.at))).toBeGreaterThanOrEqual(35);
  }
  expect(state.purchases).toHaveLength(2);
  expect((await get("/vtu/data")).status).toBe(200);
});

test("a fault that HTTP cannot carry is answered with 500, and the simulator keeps serving", async () => {
  const { buy, state } = await aSimulator();
  state.faults.add({ kind: "custom", status: 200, headers: { "bad name": "x" }, body: "", times: 1 });
  expect((await buy()).status).toBe(500);
  expect((await buy()).status).toBe(200);
});
