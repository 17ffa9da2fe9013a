import { expect, test, vi } from "vitest";
import { sleep } from "../../../../shared/platform/time.ts";
import type { Fault } from "../../../../tools/simulator/faults.ts";
import { startSimulator } from "../../../../tools/simulator/server.ts";
import {
  aSimulator,
  aWebhook,
  bodySchema,
  LIVE_KEY,
  MTN_1GB,
  SOME_PHONE,
} from "../../../builders/upstream-simulator.ts";

/** Goal: the simulator misbehaves as it is told to, and tells what it saw. */
test.for<[string, Fault, number, Record<string, string>, number]>([
  ["a status", { kind: "status", status: 500 }, 500, { "x-ratelimit-limit": "60" }, 0],
  ["a status after the order", { kind: "status", status: 504, body: { a: 1 }, takesOrder: true }, 504, {}, 1],
  ["an HTML page", { kind: "html" }, 200, { "content-type": "text/html" }, 0],
  [
    "a full limit",
    { kind: "rate_limited", retryAfterS: 9 },
    429,
    { "retry-after": "9", "x-ratelimit-remaining": "0" },
    0,
  ],
  ["an empty body", { kind: "empty", takesOrder: true }, 200, { "content-length": "0" }, 1],
  ["a body of 3,000,000 bytes", { kind: "huge", bytes: 3_000_000 }, 200, { "content-length": "3000000" }, 0],
  ["a refused key", { kind: "unauthorized" }, 401, {}, 0],
  [
    "a redirect of its own",
    { kind: "custom", status: 307, headers: { Location: "/x" }, body: "?" },
    307,
    { location: "/x" },
    0,
  ],
])("a fault can answer with %s, once", async ([, fault, status, headers, orders]) => {
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

test("a socket dropped after the order leaves an order, one dropped before reading leaves none", async () => {
  const { buy, state } = await aSimulator();
  state.faults.add({ kind: "drop_before_reading", times: 1 }, { kind: "drop_after_order", times: 1 });
  await expect(buy({ reference: "r-1" })).rejects.toThrow("fetch failed");
  expect([state.purchases, state.requests]).toEqual([[], []]);
  await expect(buy({ reference: "r-1" })).rejects.toThrow("fetch failed");
  expect(state.purchases).toMatchObject([{ reference: "r-1", status: "success" }]);
});

test("a delay comes after the order and together with another fault, and lasts for ever without a count", async () => {
  const { check, get, state } = await aSimulator();
  state.faults.add(
    { kind: "delay", delayMs: 40, path: "/identity" },
    { kind: "status", status: 503, times: 1, method: "POST" },
  );
  for (const status of [503, 200, 200]) {
    const startMs = Date.now();
    expect((await check("12345678901")).status).toBe(status);
    expect(Date.now() - startMs).toBeGreaterThanOrEqual(35);
  }
  expect((await get("/vtu/data")).status).toBe(200);
  const answer = check("12345678901").then(() => "answered");
  await vi.waitFor(() => expect(state.purchases.length).toBe(3), { interval: 2 });
  expect(await Promise.race([answer, sleep(0).then(() => "still waiting")])).toBe("still waiting");
  await answer;
});

test("a fault that cannot be carried out is a 500 envelope, and the simulator lives on", async () => {
  const { buy, state } = await aSimulator();
  state.faults.add({ kind: "custom", status: 200, headers: { "bad name": "x" }, body: "", times: 1 });
  expect((await buy()).status).toBe(500);
  expect((await buy()).status).toBe(200);
});

test("the control API shows requests and the wallet, sets faults and the catalog, and resets all of it", async () => {
  const { buy, get, control, state } = await aSimulator({ balanceKobo: 1_000_00 });
  await buy({ reference: "r-1" });
  const seen = { path: "/vtu/data/purchase", keyKind: "live", reference: "r-1", outcome: "success" };
  expect((await control("GET", "/requests")).body).toMatchObject({ requests: [{ ...seen, body: { plan_id: 101 } }] });
  const purchases = await control("GET", "/purchases");
  expect(purchases.body).toMatchObject({ purchases: [{ reference: "r-1", mode: "live", amountKobo: 500_00 }] });
  expect(JSON.stringify(purchases.body)).not.toContain(LIVE_KEY);
  expect((await control("GET", "/wallet")).body).toEqual({ balanceKobo: 500_00, balance: 500, currency: "NGN" });
  await control("PUT", "/wallet", { balanceKobo: 0 });
  expect((await buy()).status).toBe(400);

  await control("PUT", "/faults", { faults: [{ kind: "status", status: 502, path: "/vtu", method: "GET" }] });
  expect((await get("/vtu/data")).status).toBe(502);
  expect((await control("DELETE", "/faults")).body).toEqual({ faults: [] });
  await control("PUT", "/catalog", { data: "nonsense" });
  expect((await get("/vtu/data")).body).toEqual({ data: "nonsense" });

  await control("POST", "/reset");
  expect(await get("/vtu/data")).toMatchObject({ status: 200, body: { status: true } });
  expect([state.balanceKobo, state.purchases, state.requests]).toEqual([1_000_00, [], []]);
});

test("a chosen event ends an open order, contradicts a closed one, or is any JSON with any signature", async () => {
  const { received, webhook } = await aWebhook();
  const { buy, control, state } = await aSimulator({ webhook });
  await buy({ phone_number: "08000000004", reference: "r-1" });
  await control("POST", "/events", { reference: "r-1", status: "success", copies: 2 });
  expect(state.purchases[0]?.status).toBe("success");
  await control("POST", "/events", { reference: "r-1", status: "failed", changes: { amount: 1 } });
  expect(state.purchases[0]?.status).toBe("success");
  const raw = await control("POST", "/events", { event: ["?"], signature: null });
  expect(raw.body).toMatchObject({ deliveries: [{ status: 200, body: '["?"]' }] });
  expect(received.map(({ body }) => JSON.parse(body)?.data?.status)).toEqual([
    "success",
    "success",
    "failed",
    undefined,
  ]);
  expect(received[3]?.signature).toBeUndefined();
});

test("a wrong control request is answered with a sentence that says what is wrong", async () => {
  const { control } = await aSimulator();
  const wrong = [
    await control("PUT", "/faults", { faults: [{ kind: "delay" }] }),
    await control("POST", "/events", { status: "success" }),
    await control("POST", "/events", { event: {} }),
    await control("GET", "/nothing"),
  ];
  expect(wrong.map(({ status }) => status)).toEqual([400, 400, 409, 404]);
  const messages = wrong.map(({ body }) => bodySchema.parse(body).message);
  expect(messages[0]).toMatch(/faults\.0\.delayMs: .*number/);
  expect(messages[1]).toMatch(/reference: .*string/);
});

test("stopping ends kept connections at once and waits for no timer", async () => {
  const simulator = await startSimulator({ liveKey: LIVE_KEY });
  const waiting = fetch(`${simulator.baseUrl}/identity/nin/verify`, {
    ...{ method: "POST", headers: { "X-API-KEY": LIVE_KEY } },
    body: JSON.stringify({ nin: "00000000006", is_consent: true }),
  });
  const refused = expect(waiting).rejects.toThrow("fetch failed");
  await vi.waitFor(() => expect(simulator.state.purchases.length).toBe(1));
  await simulator.stop();
  await refused;
});
