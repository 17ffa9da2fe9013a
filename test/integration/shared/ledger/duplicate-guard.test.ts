import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type DuplicateWindow, duplicateGuardPut } from "../../../../shared/ledger/duplicate-guard.ts";
import { type DebitGuards, openTransaction, openUnlessOvertaking } from "../../../../shared/ledger/open-transaction.ts";
import { NOT_DELIVERED, settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { walletRestriction } from "../../../../shared/ledger/wallet.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { beforeNext } from "../../../builders/dynamodb/another-process.ts";
import { faultyLedgerForTests } from "../../../builders/ledger/faulty-ledger.ts";

/** Goal: of purchases that are alike, one is debited within the window. Method: a real table, with faults on the wire. */
const ledger = await faultyLedgerForTests();

describe("openTransaction", () => {
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
    const { Item } = await ledger.db.get({ TableName: window.table, Key: { pk: window.pk } });
    expect(Item).toMatchObject({ expires_at_s: Math.ceil(ledger.nowMs / 1_000) + 60 });
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

  test("of two purchases like a refunded one at once the second is refused by the first", async () => {
    const accountId = await ledger.aWallet(10_000);
    const window = aWindow();
    const [refunded, first] = [ledger.aTransaction(accountId), ledger.aTransaction(accountId)];
    await open(refunded, window);
    await settleTransaction(ledger, refunded, NOT_DELIVERED, deadlineIn(29_000));
    beforeNext(ledger.db, "get", async () => expect(await open(first, window)).toEqual({ kind: "opened" }));
    expect(await open(ledger.aTransaction(accountId), window)).toMatchObject({
      ...{ kind: "possible_duplicate", earlier: { pk: first.pk } },
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

  test("a purchase like an earlier one is refused as that also if the balance is too low, but for the restriction of its account", async () => {
    const accountId = await ledger.aWallet(500);
    const window = aWindow();
    expect((await open(ledger.aTransaction(accountId), window)).kind).toBe("opened");
    expect((await open(ledger.aTransaction(accountId), window)).kind).toBe("possible_duplicate");
    expect((await open(ledger.aTransaction(accountId), aWindow())).kind).toBe("insufficient_balance");
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
