import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { setDuplicateWindow } from "../../shared/access/accounts.ts";
import {
  anOrder,
  BUY_DATA,
  ORDER_NAIRA,
  startTestService,
  type TestService,
  transactionOf,
} from "../builders/service.ts";

/** Goal: of purchases that are alike, the service places one within the window. Method: simultaneous ones, by HTTP. */
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const aCaller = async () => {
  const caller = await service.newCaller({ naira: 50 * ORDER_NAIRA });
  await setDuplicateWindow(service.accounts, caller.accountId, 60);
  const buy = (fields: object = {}, headers: Record<string, string> = {}, path = BUY_DATA) =>
    service.call("POST", path, { key: caller.key, body: anOrder({ reference: randomUUID(), ...fields }), headers });
  return { ...caller, buy };
};

test("50 simultaneous purchases with 50 references make one debit and one order, and 49 name it", async () => {
  const caller = await aCaller();
  const before = service.simulator.state.purchases.length;
  const answers = await Promise.all(Array.from({ length: 50 }, () => caller.buy()));
  const placed = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ headers }) => headers.get("x-error-code") === "possible_duplicate");
  expect([placed.length, refused.length]).toEqual([1, 49]);
  const [reference] = placed.map((answer) => transactionOf(answer).reference);
  expect(new Set(refused.map(({ headers }) => headers.get("x-duplicate-of")))).toEqual(new Set([reference]));
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([422]));
  expect(await caller.balance()).toBe(49 * ORDER_NAIRA);
  expect(service.simulator.state.purchases.length).toBe(before + 1);
});

test("a refusal names both references of the earlier purchase, and the same request with the header is placed", async () => {
  const caller = await aCaller();
  const first = transactionOf(await caller.buy({ reference: "first" }));
  const refused = await caller.buy({ reference: "second" });
  expect(refused.body.message).toContain(`${first.reference} (your reference first)`);
  expect(refused.headers.get("x-transaction-reference")).toBeNull();
  for (const value of ["false", "1"]) {
    expect((await caller.buy({ reference: "second" }, { "X-Confirm-Duplicate": value })).status).toBe(422);
  }
  const second = await caller.buy({ reference: "second" }, { "X-Confirm-Duplicate": "true" });
  expect(transactionOf(second).status).toBe("success");
  expect((await caller.buy()).headers.get("x-duplicate-of")).toBe(transactionOf(second).reference);
  expect(await caller.balance()).toBe(48 * ORDER_NAIRA);
});

test("a replay within the window is answered as a replay", async () => {
  const caller = await aCaller();
  const first = await caller.buy({ reference: "again" });
  const again = await caller.buy({ reference: "again" });
  expect(again.body).toEqual(first.body);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
});

test("a purchase of another plan or kind, for another number, or of another account is placed; one without a reference is refused", async () => {
  const [caller, other] = [await aCaller(), await aCaller()];
  const placed = [
    await caller.buy(),
    await caller.buy({ plan_id: 102 }),
    await caller.buy({ phone_number: "08031234568" }),
    await caller.buy({ network: "mtn", amount: ORDER_NAIRA }, {}, "/vtu/airtime/purchase"),
    await caller.buy({ network: "mtn", amount: ORDER_NAIRA + 1 }, {}, "/vtu/airtime/purchase"),
    await caller.buy({ network: "glo", amount: ORDER_NAIRA + 1 }, {}, "/vtu/airtime/purchase"),
    await other.buy(),
  ];
  expect(placed.map(({ status }) => status)).toEqual(placed.map(() => 200));
  expect((await caller.buy({ reference: undefined })).status).toBe(422);
  // The names of one network are the same product.
  const synonym = await caller.buy({ network: " MTN", amount: ORDER_NAIRA }, {}, "/vtu/airtime/purchase");
  expect(synonym.headers.get("x-error-code")).toBe("possible_duplicate");
});

test("a purchase that the upstream refused does not refuse the next one", async () => {
  const caller = await aCaller();
  const body = JSON.stringify({ status: false, message: "No" });
  service.simulator.state.faults.add({ kind: "custom", path: "/vtu/", times: 1, status: 400, body });
  expect((await caller.buy()).status).toBe(502);
  expect((await caller.buy()).status).toBe(200);
  expect((await caller.buy()).status).toBe(422);
});

test("a key of the account that is created later has the window, a test key has none, and 0 ends it", async () => {
  const caller = await aCaller();
  const buyWith = async (key: string) => service.call("POST", BUY_DATA, { key, body: anOrder() });
  expect((await buyWith(caller.key)).status).toBe(200);
  expect((await buyWith(await caller.newKey())).status).toBe(422);
  const testKey = await caller.newKey({ mode: "test" });
  expect([(await buyWith(testKey)).status, (await buyWith(testKey)).status]).toEqual([200, 200]);
  await setDuplicateWindow(service.accounts, caller.accountId, undefined);
  expect((await buyWith(caller.key)).status).toBe(200);
});
