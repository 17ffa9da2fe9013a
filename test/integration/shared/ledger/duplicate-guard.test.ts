import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { setDuplicateWindow } from "../../../../shared/access/accounts.ts";
import { type DuplicateWindow, duplicateGuardPut } from "../../../../shared/ledger/duplicate-guard.ts";
import { type DebitGuards, openTransaction, openUnlessOvertaking } from "../../../../shared/ledger/open-transaction.ts";
import { NOT_DELIVERED, settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { walletRestriction } from "../../../../shared/ledger/wallet.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { type FaultyLedger, openFaultyLedger } from "../../../builders/faulty-ledger.ts";
import {
  anOrder,
  BUY_DATA,
  ORDER_NAIRA,
  startTestService,
  type TestService,
  transactionOf,
} from "../../../builders/service.ts";

/** Goal: of purchases that are alike, one is debited within the window. Method: simultaneous purchases, and faults on the wire. */

describe("the service", () => {
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
});

describe("openTransaction", () => {
  let ledger: FaultyLedger;
  beforeAll(async () => {
    ledger = await openFaultyLedger();
  });
  beforeEach(() => ledger.reset());
  afterAll(() => ledger.proxy.stop());

  const aWindow = (): DuplicateWindow => ({
    ...{ table: ledger.table, pk: `duplicate#${randomUUID()}`, windowS: 60, isConfirmed: false },
  });
  const open = (
    transaction: Transaction,
    duplicates: DuplicateWindow,
    how: typeof openUnlessOvertaking = openTransaction,
  ) => how(ledger, transaction, [], deadlineIn(29_000), { duplicates });

  test("a window is over after its seconds, although the item is still there, and ends earlier if it is shortened", async () => {
    const accountId = await ledger.aWallet(10_000);
    const window = aWindow();
    const next = async (of = window) => (await open(ledger.aTransaction(accountId), of)).kind;
    expect(await next()).toBe("opened");
    ledger.nowMs += 59_999;
    expect(await next()).toBe("possible_duplicate");
    ledger.nowMs += 1;
    expect(await next()).toBe("opened");
    ledger.nowMs += 10_000;
    expect(await next({ ...window, windowS: 11 })).toBe("possible_duplicate");
    expect(await next({ ...window, windowS: 10 })).toBe("opened");
  });

  test("a purchase that is refunded within the window does not refuse, and the next one does", async () => {
    const accountId = await ledger.aWallet(10_000);
    const window = aWindow();
    const refunded = ledger.aTransaction(accountId);
    expect(await open(refunded, window)).toEqual({ kind: "opened" });
    await settleTransaction(ledger, refunded, NOT_DELIVERED, deadlineIn(29_000));
    const next = ledger.aTransaction(accountId, { caller_reference: "next" });
    expect(await open(next, window, openUnlessOvertaking)).toEqual({ kind: "opened" });
    expect(await open(ledger.aTransaction(accountId), window)).toMatchObject({
      ...{ kind: "possible_duplicate", earlier: { pk: next.pk, caller_reference: "next" } },
    });
    expect(await ledger.balanceOf(accountId)).toBe(9_500);
  });

  test("a purchase like a refunded one, and the first one of a day, are busy if no time is left for the second write", async () => {
    const accountId = await ledger.aWallet(10_000);
    const window = aWindow();
    const refunded = ledger.aTransaction(accountId);
    expect(await open(refunded, window)).toEqual({ kind: "opened" });
    await settleTransaction(ledger, refunded, NOT_DELIVERED, deadlineIn(29_000));
    const openWithin = async (ms: number, guards: DebitGuards) =>
      (await openTransaction(ledger, ledger.aTransaction(accountId), [], { remainingMs: () => ms }, guards)).kind;
    expect(await openWithin(16_000, { duplicates: window })).toBe("busy");
    expect(await openWithin(16_001, { duplicates: window })).toBe("opened");
    const limits = { limits: { account: { day_orders: 9 } }, timeZone: "Africa/Lagos" };
    expect(await openWithin(16_000, { limits })).toBe("opened");
    ledger.nowMs += 86_400_000;
    expect(await openWithin(16_000, { limits })).toBe("busy");
    expect(await openWithin(16_001, { limits })).toBe("opened");
  });

  test("a purchase whose earlier one is missing, as after a restore, is refused within the window", async () => {
    const window = aWindow();
    const earlier = ledger.aTransaction("acc_1");
    await ledger.db.put(duplicateGuardPut(window, earlier, ledger.nowMs).Put);
    const next = ledger.aTransaction(await ledger.aWallet(10_000));
    expect(await open(next, window)).toEqual({ kind: "possible_duplicate", earlier: { pk: earlier.pk } });
  });

  test("a purchase like an earlier one is refused for the restriction of its account, if that has one", async () => {
    const accountId = await ledger.aWallet(10_000);
    const window = aWindow();
    expect((await open(ledger.aTransaction(accountId), window)).kind).toBe("opened");
    await ledger.db.update(walletRestriction(ledger.table, accountId, true, 0).Update);
    expect(await open(ledger.aTransaction(accountId), window)).toEqual({ kind: "restricted" });
    expect(await open(ledger.aTransaction(accountId), window, openUnlessOvertaking)).toEqual({ kind: "restricted" });
  });

  test("a purchase whose debit lost its answer is opened, not refused by its own window", async () => {
    const accountId = await ledger.aWallet(10_000);
    const transaction = ledger.aTransaction(accountId);
    ledger.firstWrites(1, "answer_lost");
    const window = aWindow();
    expect(await open(transaction, window)).toEqual({ kind: "opened" });
    expect(await ledger.balanceOf(accountId)).toBe(9_500);
    expect((await open(ledger.aTransaction(accountId), window)).kind).toBe("possible_duplicate");
  });
});
