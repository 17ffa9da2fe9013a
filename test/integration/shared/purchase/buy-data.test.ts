import { expect, test } from "vitest";
import { anOrder, BUY_DATA, ORDER_NAIRA, serviceForTests, transactionOf } from "../../../builders/service/service.ts";

const service = await serviceForTests();

const requestCount = (): number => service.simulator.state.requests.length;

test("a used reference with another plan or number is answered 422 about it, and changes nothing", async () => {
  const caller = await service.newCaller({ naira: 2 * ORDER_NAIRA });
  const body = anOrder({ reference: "other" });
  await service.call("POST", BUY_DATA, { key: caller.key, body });
  for (const changes of [{ plan_id: 102 }, { phone_number: "08031234568" }]) {
    const { headers } = await service.call("POST", BUY_DATA, { key: caller.key, body: { ...body, ...changes } });
    expect(headers.get("x-error-code"), JSON.stringify(changes)).toBe("reference_reused");
  }
  expect(await caller.balance()).toBe(ORDER_NAIRA);
});

test("an order at the expected price is placed, and its replay with another one gets its transaction", async () => {
  const caller = await service.newCaller({ naira: 1_000 });
  const buy = (expected_price?: number) =>
    service.call("POST", BUY_DATA, { key: caller.key, body: anOrder({ reference: "expected", expected_price }) });
  const refused = await buy(450.5);
  expect(refused.body.message).toBe("The price is 500 NGN, not 450.5 NGN; nothing was charged");
  expect(await caller.balance()).toBe(1_000);
  const { reference, ...placed } = transactionOf(await buy(ORDER_NAIRA));
  expect(placed).toMatchObject({ amount: ORDER_NAIRA, description: "MTN 1GB data for 08031234567" });
  for (const replay of [await buy(450.5), await buy()]) {
    expect(transactionOf(replay).reference).toBe(reference);
    expect(replay.headers.get("idempotent-replayed")).toBe("true");
  }
  expect(await caller.balance()).toBe(500);
});

test("an order that does not fit the catalog is refused with the documented code and field, and nothing is charged", async () => {
  const caller = await service.newCaller({ naira: 1_000 });
  const before = requestCount();
  for (const [changes, code, field] of [
    [{ network_id: 99 }, "validation_failed", "network_id"],
    [{ plan_id: 201 }, "plan_unavailable", "plan_id"],
    [{ plan_id: 9_999 }, "plan_unavailable", "plan_id"],
    [{ expected_price: 499.99 }, "price_changed", "expected_price"],
    [{ expected_price: 501 }, "price_changed", "expected_price"],
  ] as const) {
    const answer = await service.call("POST", BUY_DATA, { key: caller.key, body: anOrder(changes) });
    expect([answer.status, answer.headers.get("x-error-code")], JSON.stringify(changes)).toEqual([422, code]);
    expect(answer.body.errors).toEqual({ [field]: [expect.any(String)] });
    // Nothing was opened either: a refunded debit would have a reference.
    expect(answer.headers.get("x-transaction-reference")).toBeNull();
  }
  expect(await caller.balance()).toBe(1_000);
  expect(requestCount()).toBe(before);
});
