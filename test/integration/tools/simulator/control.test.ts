import { expect, test } from "vitest";
import { aSimulator, aWebhook, bodySchema, LIVE_KEY } from "../../../builders/upstream/upstream-simulator.ts";

test("the control API shows requests, purchases and the wallet, sets faults and the catalog, and resets them", async () => {
  const { buy, get, control, state } = await aSimulator({ balanceKobo: 1_000_00 });
  await buy({ reference: "r-1" });
  const recorded = { path: "/vtu/data/purchase", mode: "live", reference: "r-1", outcome: "success" };
  expect((await control("GET", "/requests")).body).toMatchObject({
    requests: [{ ...recorded, body: { plan_id: 101 } }],
  });
  const purchases = await control("GET", "/purchases");
  expect(purchases.body).toMatchObject({ purchases: [{ reference: "r-1", mode: "live", amount_kobo: 500_00 }] });
  expect(JSON.stringify(purchases.body)).not.toContain(LIVE_KEY);
  expect((await control("GET", "/wallet")).body).toEqual({ balance_kobo: 500_00, balance: 500, currency: "NGN" });
  await control("PUT", "/wallet", { balance_kobo: 0 });
  expect((await buy()).status).toBe(400);

  await control("PUT", "/faults", { faults: [{ kind: "status", status: 502, path: "/vtu", method: "GET" }] });
  expect((await get("/vtu/data")).status).toBe(502);
  expect((await control("DELETE", "/faults")).body).toEqual({ faults: [] });
  await control("PUT", "/catalog", { data: "malformed" });
  expect((await get("/vtu/data")).body).toEqual({ data: "malformed" });

  await control("POST", "/reset");
  expect(await get("/vtu/data")).toMatchObject({ status: 200, body: { status: true } });
  expect([state.balanceKobo, state.purchases, state.requests]).toEqual([1_000_00, [], []]);
});

test("GET /help lists what the control API can do, with the form of each body", async () => {
  const { control } = await aSimulator();
  const { status, body } = await control("GET", "/help");
  expect(status).toBe(200);
  expect(body).toMatchObject({
    operations: expect.arrayContaining([
      expect.objectContaining({ route: "GET /help" }),
      expect.objectContaining({ route: "POST /events", body: expect.objectContaining({ anyOf: expect.any(Array) }) }),
      expect.objectContaining({ route: "PUT /faults", summary: expect.stringMatching(/^Replace the faults/) }),
    ]),
  });
  expect(JSON.stringify(body)).toContain('"drop_after_order"');
});

test("the control API sends events that settle an open order or contradict a settled one, and any JSON with any signature", async () => {
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

test("an invalid control request is answered with a message that names the field or the missing webhook", async () => {
  const { control } = await aSimulator();
  const invalid = [
    await control("PUT", "/faults", { faults: [{ kind: "delay" }] }),
    await control("POST", "/events", { status: "success" }),
    await control("POST", "/events", { event: {} }),
    await control("GET", "/nothing"),
  ];
  expect(invalid.map(({ status }) => status)).toEqual([400, 400, 409, 404]);
  const messages = invalid.map(({ body }) => bodySchema.parse(body).message);
  expect(messages[0]).toMatch(/faults\.0\.delay_ms: Is required/);
  expect(messages[1]).toMatch(/reference: Is required/);
  expect(messages[2]).toBe("No webhook is configured, so no event can be sent.");
});
