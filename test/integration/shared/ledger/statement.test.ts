import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { adjustWallet, fundWallet } from "../../../../shared/ledger/ledger-entry.ts";
import { ALL_TIMES } from "../../../../shared/ledger/query-index.ts";
import { refundPut } from "../../../../shared/ledger/refund.ts";
import { adjustmentPk, entriesList, transactionList, transactionPk } from "../../../../shared/ledger/schema.ts";
import { NOT_DELIVERED, settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { readStatementPage } from "../../../../shared/ledger/statement.ts";
import { referenceOf } from "../../../../shared/ledger/transaction.ts";
import { voidDebit } from "../../../../shared/ledger/void-debit.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { resolveTransaction } from "../../../../shared/upstream-events/operator-resolution.ts";
import { beforeEachCall } from "../../../builders/dynamodb/before-each-call.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { reverseTies } from "../../../builders/dynamodb/reversed-ties.ts";
import { openFaultyLedger } from "../../../builders/ledger/faulty-ledger.ts";
import { decision, openOperatorLedger } from "../../../builders/ledger/operator-ledger.ts";
import { putTransactions } from "../../../builders/ledger/put-transactions.ts";
import { readStatement } from "../../../builders/ledger/statement.ts";
import { aTransaction, newTransactionPk } from "../../../builders/ledger/transaction.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

test("a statement lists each change of the wallet by time, opens with the sum before its range, and closes with the balance", async () => {
  const operator = await openOperatorLedger();
  const { accountId, balance } = await operator.anAccount();
  const bought = await operator.openFor(accountId, { caller_reference: "order-1" });
  const failed = await operator.openFor(accountId, { created_at: isoTime(NOON_MS - 50_000) });
  await settleTransaction(operator.ledgerAt(), bought, { status: "success" }, deadlineIn(9_000));
  await resolveTransaction(operator.ledgerAt(), failed, "failed", decision);
  await voidDebit(operator.ledgerAt(), { ...failed, pk: newTransactionPk() }, deadlineIn(9_000));
  const adjustment = { accountId, adjustmentId: "case-1", amount_kobo: 50_00, why: "ticket 88" };
  await adjustWallet(operator.ledgerAt(NOON_MS + 1), adjustment);
  const statement = await readStatement(operator.ledgerAt(), accountId, { from: "0000", to: "9999" });
  const { network, description } = bought;
  expect(statement.lines).toMatchObject([
    { kind: "funding", id: `first-${accountId}`, effect_kobo: 1_000_00, balance_after_kobo: 1_000_00 },
    { kind: "data", id: referenceOf(bought), caller_reference: "order-1", network, description, effect_kobo: -500_00 },
    { kind: "data", id: referenceOf(failed), effect_kobo: -500_00, balance_after_kobo: 0 },
    { kind: "refund", id: referenceOf(failed), at: isoTime(NOON_MS), effect_kobo: 500_00, balance_after_kobo: 500_00 },
    { kind: "adjustment", id: "case-1", description: "ticket 88", effect_kobo: 50_00, balance_after_kobo: 550_00 },
  ]);
  expect(statement.lines).toHaveLength(5);
  expect(statement).toMatchObject({ opening_kobo: 0, closing_kobo: 550_00 });
  expect(await balance()).toBe(550);

  const later = await readStatement(operator.ledgerAt(), accountId, { from: isoTime(NOON_MS + 1), to: "9999" });
  expect(later).toMatchObject({ opening_kobo: 500_00, closing_kobo: 550_00, lines: [{ kind: "adjustment" }] });
});

test("a statement until a moment stays as it was when an order of before it is refunded or delivered later", async () => {
  const operator = await openOperatorLedger();
  const { accountId } = await operator.anAccount();
  const [one, other] = [await operator.openFor(accountId), await operator.openFor(accountId)];
  const month = { from: "0000", to: isoTime(NOON_MS - 1) };
  const reported = await readStatement(operator.ledgerAt(), accountId, month);
  await settleTransaction(operator.ledgerAt(), one, NOT_DELIVERED, deadlineIn(9_000));
  await settleTransaction(operator.ledgerAt(), other, { status: "success" }, deadlineIn(9_000));
  expect(await readStatement(operator.ledgerAt(), accountId, month)).toEqual(reported);
  expect(reported.closing_kobo).toBe(0);

  const next = await readStatement(operator.ledgerAt(), accountId, { from: isoTime(NOON_MS), to: "9999" });
  expect(next).toMatchObject({ opening_kobo: 0, closing_kobo: 500_00, lines: [{ kind: "refund" }] });
});

test("a statement of more transactions than one read can take lists each once, by time, with the entries between them", async () => {
  const { db, table, clock } = await openFaultyLedger();
  const accountId = `acc_${randomUUID()}`;
  const timeOf = (index: number): string => isoTime(NOON_MS + index * 1_000);
  const items = Array.from({ length: 460 }, (_, index) =>
    index % 46 === 0
      ? {
          pk: adjustmentPk(accountId, `case-${index}`),
          list_key: entriesList(accountId),
          kind: "adjustment",
          account_id: accountId,
          entry_id: `case-${index}`,
          amount_kobo: 100_000_00,
          why: "test",
          created_at: timeOf(index),
        }
      : aTransaction({
          pk: transactionPk(`T${String(index).padStart(25, "0")}`),
          list_key: transactionList(accountId, "live"),
          account_id: accountId,
          status: "success",
          created_at: timeOf(index),
        }),
  );
  await putItems(db, table, items);
  // As DynamoDB ends a page after a megabyte.
  beforeEachCall(db, "query", (input) => {
    input.Limit = Math.min(16, input.Limit ?? 16);
  });
  const ledger = { db, table, clock };
  const { opening_kobo, lines, closing_kobo } = await readStatement(ledger, accountId, {
    from: timeOf(100),
    to: timeOf(449),
  });
  expect(lines.map(({ at }) => at)).toEqual(Array.from({ length: 350 }, (_, index) => timeOf(100 + index)));
  expect(lines.filter(({ kind }) => kind === "adjustment").map(({ id }) => id)).toEqual(
    [138, 184, 230, 276, 322, 368, 414].map((index) => `case-${index}`),
  );
  expect([opening_kobo, closing_kobo]).toEqual([3 * 100_000_00 - 97 * 500_00, 10 * 100_000_00 - 440 * 500_00]);
});

test("a page that is full of what is before its range has no lines, and the next one goes on with its balance", async () => {
  const operator = await openOperatorLedger();
  const { accountId } = await operator.anAccount();
  await putTransactions(operator.ledgerAt(), accountId, 12, (index) => isoTime(NOON_MS + index * 1_000));
  const range = { from: isoTime(NOON_MS + 10_000), to: "9999" };
  const limits = { linesMax: 5, itemsMax: 8 };
  const first = await readStatementPage(operator.ledgerAt(), accountId, range, undefined, limits);
  expect(first).toMatchObject({ lines: [], opening_kobo: -2_000_00, closing_kobo: -2_000_00 });
  const second = await readStatementPage(operator.ledgerAt(), accountId, range, first.next, limits);
  expect(second).toMatchObject({ opening_kobo: -4_000_00, closing_kobo: -5_000_00, next: undefined });
  expect(second.lines.map(({ balance_after_kobo }) => balance_after_kobo)).toEqual([-4_500_00, -5_000_00]);
  const short = await readStatementPage(operator.ledgerAt(), accountId, range, undefined, {
    linesMax: 2,
    itemsMax: 99,
  });
  expect(short.lines).toHaveLength(1);
});

test("pages of any size join to the whole statement, and each refund's order is read once", async () => {
  const operator = await openOperatorLedger();
  const { accountId } = await operator.anAccount();
  const ledger = operator.ledgerAt();
  const orders = await putTransactions(ledger, accountId, 12, (index) => isoTime(NOON_MS + index * 1_000));
  // Half of them were refunded in the millisecond of the next order.
  const refunded = orders.filter((_, index) => index % 2 === 0);
  for (const order of refunded)
    await ledger.db.put(refundPut(ledger, order, isoTime(Date.parse(order.created_at) + 1_000)).Put);
  const whole = await readStatement(ledger, accountId, ALL_TIMES);
  const ofTwo = ["data", "data", "refund"];
  expect(whole.lines.map(({ kind }) => kind)).toEqual(["funding", ...refunded.flatMap(() => ofTwo)]);
  for (const size of [1, 2, 3, 5, 7]) {
    const reads = vi.spyOn(ledger.db, "batchGet");
    expect(await readStatement(ledger, accountId, ALL_TIMES, { linesMax: size, itemsMax: size })).toEqual(whole);
    const read = reads.mock.calls.flatMap(([{ RequestItems }]) => RequestItems?.[ledger.table]?.Keys ?? []);
    expect(read).toEqual(refunded.map(({ pk }) => ({ pk })));
    reads.mockRestore();
  }
});

test("lines of one millisecond are by kind and id, in whatever order the index has them, on pages of any size", async () => {
  const operator = await openOperatorLedger();
  const { accountId } = await operator.anAccount();
  const ledger = operator.ledgerAt();
  for (const timeMs of [NOON_MS, NOON_MS + 1_000]) {
    for (const adjustmentId of ["case-2", "case-3", "case-1"].map((id) => `${id}-${timeMs}`))
      await adjustWallet(operator.ledgerAt(timeMs), { accountId, adjustmentId, amount_kobo: 100, why: "test" });
    await fundWallet(operator.ledgerAt(timeMs), {
      accountId,
      fundingId: `bank-${timeMs}`,
      amountKobo: koboFromNaira(500),
    });
  }
  const orders = await putTransactions(ledger, accountId, 3, () => isoTime(NOON_MS + 1_000));
  for (const order of orders) await ledger.db.put(refundPut(ledger, order, order.created_at).Put);
  const sizes = [1, 2, 3, 4, 5, 7, 9, 100];
  const statements = async () =>
    Promise.all(sizes.map((size) => readStatement(ledger, accountId, ALL_TIMES, { linesMax: size, itemsMax: size })));
  const [whole, ...others] = await statements();
  const sorted = whole?.lines.map(({ at, kind, id }) => [at, kind, id].join(" ")).toSorted();
  expect(sorted).toHaveLength(15);
  expect(whole?.lines.map(({ at, kind, id }) => [at, kind, id].join(" "))).toEqual(sorted);
  for (const other of others) expect(other).toEqual(whole);
  reverseTies(ledger.db);
  for (const reversed of await statements()) expect(reversed).toEqual(whole);
});

test("a page that takes all that it has read asks for no more", async () => {
  const operator = await openOperatorLedger();
  const { accountId } = await operator.anAccount();
  const ledger = operator.ledgerAt();
  await putTransactions(ledger, accountId, 12, (index) => isoTime(NOON_MS + index * 1_000));
  const query = vi.spyOn(ledger.db, "query");
  const page = await readStatementPage(ledger, accountId, ALL_TIMES, undefined, { linesMax: 5, itemsMax: 5_000 });
  expect(page.lines).toHaveLength(4);
  const asked = query.mock.calls.map(([{ Limit }]) => Limit);
  expect(query.mock.settledResults.map(({ type }) => type)).not.toContain("incomplete");
  query.mockRestore();
  // Of entries, debits and refunds.
  expect(asked).toEqual([5, 5, 5]);
});
