import { createHash, randomUUID } from "node:crypto";
import { QueryCommand, type QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { createAccount } from "../../../../shared/access/accounts.ts";
import { auditItem } from "../../../../shared/actions/action-context.ts";
import { runs } from "../../../../shared/actions/runs.ts";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { koboFromNaira, koboSchema } from "../../../../shared/contract/values/money.ts";
import { type AuditPut, readAudit, SERVICE } from "../../../../shared/ledger/audit.ts";
import { adjustWallet, fundWallet } from "../../../../shared/ledger/ledger-entry.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import { putAccountPeriod, readAccountPeriod, readServicePeriod } from "../../../../shared/ledger/period.ts";
import {
  ACCOUNTS_LIST,
  accountPk,
  adjustmentPk,
  entriesList,
  fundingPk,
  periodLinesPk,
  periodPk,
  refundPk,
  transactionPk,
  walletPk,
} from "../../../../shared/ledger/schema.ts";
import { NOT_DELIVERED, settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { positionAfter } from "../../../../shared/ledger/statement.ts";
import { referenceOf, type Transaction } from "../../../../shared/ledger/transaction.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import { type Closing, closeService, continueClosing } from "../../../../shared/periods/close-period.ts";
import { emptyFold, foldNext } from "../../../../shared/periods/fold-lines.ts";
import { monthToClose } from "../../../../shared/periods/month-to-close.ts";
import { continueVerifying } from "../../../../shared/periods/verify-period.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { EPOCH, isoTime } from "../../../../shared/platform/time.ts";
import { enqueueOrder } from "../../../../shared/queued-orders/queue-store.ts";
import { recomputeWallets } from "../../../../tools/admin/carry-over/wallets.ts";
import { beforeNext } from "../../../builders/dynamodb/another-process.ts";
import { beforeEachCall } from "../../../builders/dynamodb/before-each-call.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { hideFromIndex } from "../../../builders/dynamodb/hide-from-index.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { anActionContext, type TestContext } from "../../../builders/ledger/action-context.ts";
import { closeMonth, verifyMonth } from "../../../builders/ledger/close-month.ts";
import { readStatement } from "../../../builders/ledger/statement.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";

/** Goal: a closed month stays what it was, and any change of it is found. Method: a clock that the tests move. */
let context: TestContext;
let nowMs = 0;
const at = (time: string): void => {
  nowMs = Date.parse(time);
};
beforeEach(async () => {
  // No backoff.
  vi.spyOn(Math, "random").mockReturnValue(0);
  at("2026-10-05T12:00:00.000Z");
  context = anActionContext(await freshTables(), { clock: () => nowMs });
});

const close = (month: string) => closeMonth(context, month, (ms) => at(isoTime(nowMs + ms)));

const noTime = { remainingMs: () => 0 };

/** Closes accounts of a month, but not the service: all that the time allows after they were sealed. */
const begin = async (month: string, deadline: Deadline, accounts = 2) => {
  const toClose = await monthToClose(context.ledger, month, context);
  await continueClosing(context.ledger, toClose, { phase: "seal", done: 0, accounts }, noTime);
  const begun = await continueClosing(context.ledger, toClose, { phase: "close", done: 0, accounts }, deadline);
  expect(begun?.closing.done).toBe(deadline === noTime ? 1 : undefined);
  return toClose;
};

const audited = ({ month, hash }: { readonly month: string; readonly hash: string }): AuditPut =>
  auditItem(context, SERVICE, { action: "periods close", why: "month end", details: { month, hash } });

const anAccount = async (naira = 1_000): Promise<string> => {
  nowMs += 1;
  const { account_id } = await createAccount(context.accounts, { name: "test", whitelist: [] });
  await fund(account_id, naira);
  return account_id;
};

const fund = (accountId: string, naira: number) =>
  fundWallet(context.ledger, { accountId, fundingId: randomUUID(), amountKobo: koboFromNaira(naira) });

let orders = 0;
const order = async (accountId: string, changes: Partial<Transaction> = {}) => {
  nowMs += 1;
  orders += 1;
  const now = isoTime(nowMs);
  const pk = transactionPk(`0${String(orders).padStart(25, "0")}`);
  const transaction = aTransaction({
    ...{ pk, list_key: `${accountId}#live`, account_id: accountId },
    ...{ write_token: randomUUID(), created_at: now, updated_at: now, listed_at: now },
    ...changes,
  });
  expect(await openTransaction(context.ledger, transaction, [], deadlineIn(29_000))).toEqual({ kind: "opened" });
  return transaction;
};

test("a closed month has opening, sums and counts by kind, closing and open orders of each account and an audit entry, and changes no balance", async () => {
  const account = await anAccount();
  const other = await anAccount(20);
  const open = await order(account);
  const failed = await order(account);
  await settleTransaction(context.ledger, failed, NOT_DELIVERED, deadlineIn(9_000));
  // In Lagos it is November already.
  at("2026-10-31T23:00:00.000Z");
  await fund(account, 7);
  at("2026-11-03T12:00:00.000Z");
  const balances = () =>
    Promise.all([account, other].map(async (id) => (await readWallet(context.ledger, id)).balance_kobo));
  const before = await balances();
  const { period, accounts_done } = await close("2026-10");
  expect(accounts_done).toBe(2);
  expect(period).toMatchObject({
    ...{ month: "2026-10", time_zone: "Africa/Lagos", opening: 0, closing: 520, open_orders: 1, lines: 5, accounts: 2 },
    ...{ from: "2026-09-30T23:00:00.000Z", to: "2026-10-31T22:59:59.999Z", previous: "" },
    kinds: [
      { kind: "funding", count: 2, amount: 1_020 },
      { kind: "refund", count: 1, amount: 500 },
      { kind: "data", count: 2, amount: -1_000 },
    ],
  });
  const details = { month: "2026-10", hash: period?.hash };
  expect(await readAudit(context.ledger, SERVICE)).toMatchObject([{ action: "periods close", details }]);
  expect(await balances()).toEqual(before);
  await settleTransaction(context.ledger, open, NOT_DELIVERED, deadlineIn(9_000));
  at("2026-12-01T12:00:00.000Z");
  const november = await close("2026-11");
  expect(november.period).toMatchObject({ opening: 520, closing: 1_027, previous: period?.hash, lines: 2 });
  const { accounts } = await runs["periods accounts"](context, { month: "2026-11" });
  expect(accounts).toMatchObject([
    { account_id: account, opening: 500, closing: 1_007, kinds: [{ kind: "funding" }, { kind: "refund" }] },
    { account_id: other, opening: 20, closing: 20, lines: 0 },
  ]);
  expect(await verifyMonth(context, "2026-10")).toEqual([]);
  expect(await verifyMonth(context, "2026-11")).toEqual([]);
  expect((await runs["periods list"](context, {})).periods.map(({ month }) => month)).toEqual(["2026-11", "2026-10"]);
});

test("the open orders of a closed month are those placed in it, also the queued ones, and no later account is closed", async () => {
  const account = await anAccount(10_000);
  const toSend = { kind: "airtime", network: "mtn" } as const;
  for (const [placedAt, queued] of [
    ["2026-10-31T22:59:59.000Z", [undefined, 1]],
    ["2026-10-31T23:00:00.000Z", [undefined, undefined, 1, 1]],
  ] as const) {
    at(placedAt);
    await order(account);
    for (const refusals of queued) {
      await enqueueOrder(context.ledger, { ...(await order(account)), refusals }, toSend, deadlineIn(29_000));
    }
  }
  const later = await anAccount();
  at("2026-11-03T12:00:00.000Z");
  expect((await close("2026-10")).period).toMatchObject({ open_orders: 3, accounts: 1, lines: 4 });
  expect(await readAccountPeriod(context.ledger, "2026-10", later)).toBeUndefined();
});

test("a month that has not ended, or that would leave a gap, is refused", async () => {
  await anAccount();
  at("2026-10-31T23:16:59.999Z");
  await expect(close("2026-10")).rejects.toThrow(/can be closed from 2026-10-31T23:17:00.000Z on/);
  nowMs += 1;
  await close("2026-10");
  at("2027-01-05T12:00:00.000Z");
  await expect(close("2026-12")).rejects.toThrow("2026-10 was closed last, so 2026-11 is next");
  await expect(close("2026-09")).rejects.toThrow("2026-11 is next");
});

test("a month before the first account is no first month, whatever was typed: each after it would have to be closed", async () => {
  const refusals = async (months: readonly string[], first: string) => {
    for (const month of months)
      await expect(close(month)).rejects.toThrow(`in ${month}: ${first} is the first month that can be closed`);
  };
  at("2026-12-03T12:00:00.000Z");
  await refusals(["2026-10"], "2026-11");
  // 00:30 of the 1st in Lagos.
  at("2026-09-30T23:30:00.000Z");
  await anAccount();
  at("2026-12-03T12:00:00.000Z");
  await refusals(["2026-09", "2025-10", "0000-01"], "2026-10");
  // The first account is of a month that has not ended.
  at("2026-10-20T12:00:00.000Z");
  await refusals(["2026-08"], "2026-09");
  at("2026-12-03T12:00:00.000Z");
  expect((await runs["periods list"](context, {})).periods).toEqual([]);
  await close("2026-10");
});

test("after a month that was closed without an account the next one can be closed without one too", async () => {
  at("2026-11-03T12:00:00.000Z");
  await close("2026-10");
  at("2027-01-03T12:00:00.000Z");
  expect((await close("2026-11")).period).toMatchObject({ month: "2026-11", accounts: 0 });
});

test("a month can be closed again and again: it stays as it is, and an interrupted run continues", async () => {
  const accounts = [await anAccount(), await anAccount(), await anAccount()];
  at("2026-11-03T12:00:00.000Z");
  const month = await monthToClose(context.ledger, "2026-10", context);
  const sealed = await continueClosing(context.ledger, month, { phase: "seal", done: 0, accounts: 3 }, noTime);
  expect(sealed).toMatchObject({ closing: { phase: "close", done: 0 }, waitMs: 0 });
  for (const account of accounts)
    expect(await readWallet(context.ledger, account)).toMatchObject({ sealed_to: month.to });
  const one = await continueClosing(context.ledger, month, { phase: "close", done: 0, accounts: 3 }, noTime);
  expect(one).toMatchObject({ closing: { done: 1 }, waitMs: 0 });
  nowMs += 1;
  const first = await close("2026-10");
  expect(await close("2026-10")).toEqual(first);
  expect(await verifyMonth(context, "2026-10")).toEqual([]);
  const closed = await runs["periods accounts"](context, { month: "2026-10" });
  expect(new Set(closed.accounts.map(({ closed_at }) => closed_at)).size).toBe(2);
});

test("a month is not closed before the index has all its lines, also if those that it lacks add up to nothing", async () => {
  const account = await anAccount();
  const failed = await order(account);
  await settleTransaction(context.ledger, failed, NOT_DELIVERED, deadlineIn(9_000));
  at("2026-11-03T12:00:00.000Z");
  await fund(account, 7);
  const lackedUntilMs = nowMs + 100_000;
  const lacked = new Set<unknown>([failed.pk, refundPk(failed)]);
  hideFromIndex(context.ledger.db, ({ pk }) => nowMs < lackedUntilMs && lacked.has(pk));
  const { period } = await close("2026-10");
  expect(nowMs).toBeGreaterThanOrEqual(lackedUntilMs);
  expect(period).toMatchObject({ lines: 3, closing: 1_000 });
  expect(await verifyMonth(context, "2026-10")).toEqual([]);
});

test("a month is refused while the index lacks lines for more than two minutes, also if those add up to nothing", async () => {
  const account = await anAccount();
  const failed = await order(account);
  await settleTransaction(context.ledger, failed, NOT_DELIVERED, deadlineIn(9_000));
  at("2026-11-03T12:00:00.000Z");
  const lacked = new Set<unknown>([failed.pk, refundPk(failed)]);
  const lagging = hideFromIndex(context.ledger.db, ({ pk }) => lacked.has(pk));
  await expect(close("2026-10")).rejects.toThrow(`The index lacks 2 lines that the wallet of ${account} counts`);
  lagging.mockRestore();
  expect((await close("2026-10")).period).toMatchObject({ lines: 3, closing: 1_000 });
});

test("a month is closed at once if the index has all that the wallet counts", async () => {
  const account = await anAccount();
  await settleTransaction(context.ledger, await order(account), NOT_DELIVERED, deadlineIn(9_000));
  at("2026-11-03T12:00:00.000Z");
  await order(account);
  const beforeMs = nowMs;
  await close("2026-10");
  expect(nowMs).toBe(beforeMs);
});

test("a month is refused whose lines do not add up to the balance of a wallet, and the account is named", async () => {
  const account = await anAccount();
  at("2026-11-03T12:00:00.000Z");
  await changeItem(context.ledger, walletPk(account), { balance_kobo: 1_007_00 });
  await expect(close("2026-10")).rejects.toThrow(
    `The lines of ${account} add up to NGN 1,000.00 and its balance is NGN 1,007.00`,
  );
  expect((await runs["periods list"](context, {})).periods).toEqual([]);
});

test("a wallet that counts fewer lines than it has keeps a month from being closed until a carry-over has counted them", async () => {
  const account = await anAccount();
  await changeItem(context.ledger, walletPk(account), { version: 0 });
  at("2026-11-03T12:00:00.000Z");
  await expect(close("2026-10")).rejects.toThrow(`The index has 1 line more than the wallet of ${account} counts`);
  const audit = (): AuditPut => auditItem(context, account, { action: "ledger carry-over" });
  const options = { audit, plannedChanges: new Map(), logProgress: () => {} };
  expect(await recomputeWallets(context.ledger, new Set([account]), options)).toMatchObject([{ result: "corrected" }]);
  const beforeMs = nowMs;
  await close("2026-10");
  expect(nowMs).toBe(beforeMs);
});

test("a month that was begun before the one before it was closed is closed behind it", async () => {
  at("2026-09-05T12:00:00.000Z");
  const account = await anAccount();
  await anAccount();
  at("2026-11-03T12:00:00.000Z");
  await begin("2026-10", noTime);
  const first = await close("2026-09");
  const second = await close("2026-10");
  expect(second.period?.previous).toBe(first.period?.hash);
  const { accounts } = await runs["periods accounts"](context, { month: "2026-10" });
  expect(accounts[0]).toMatchObject({ account_id: account, opening: 1_000, closing: 1_000, lines: 0 });
  expect(accounts.map(({ previous }) => previous)).not.toContain("");
  expect(await verifyMonth(context, "2026-10")).toEqual([]);
});

test.each([
  ["2026-10", "2026-09"],
  ["2026-09", "2026-10"],
])("if %s is closed as the first month while %s is, the second is refused", async (late, early) => {
  at("2026-09-05T12:00:00.000Z");
  await anAccount();
  await anAccount();
  at("2026-11-03T12:00:00.000Z");
  const toClose = await begin(late, deadlineIn(9_000));
  await close(early);
  await expect(closeService(context.ledger, toClose, audited)).rejects.toThrow("Another run has closed another month");
  expect((await runs["periods list"](context, {})).periods.map(({ month }) => month)).toEqual([early]);
});

test("of two runs that close a month at once, the second finds it closed, and changes no account's period", async () => {
  const account = await anAccount();
  await anAccount();
  at("2026-11-03T12:00:00.000Z");
  const toClose = await begin("2026-10", deadlineIn(9_000));
  const stored = await readAccountPeriod(context.ledger, "2026-10", account);
  if (stored === undefined) throw new Error("The account has no period");
  // A third run has replaced the period that this one read.
  await putAccountPeriod(context.ledger, { ...stored, time_zone: "UTC" }, { hash: "another" });
  expect(await readAccountPeriod(context.ledger, "2026-10", account)).toEqual(stored);
  await closeService(context.ledger, toClose, audited);
  const closed = await readServicePeriod(context.ledger, "2026-10");
  at("2026-11-03T12:00:01.000Z");
  await closeService(context.ledger, toClose, audited);
  expect(await readServicePeriod(context.ledger, "2026-10")).toEqual(closed);
  for (const replaced of [undefined, stored]) {
    await putAccountPeriod(context.ledger, { ...stored, time_zone: "UTC" }, replaced);
    expect(await readAccountPeriod(context.ledger, "2026-10", account)).toEqual(stored);
  }
});

test("a zone that is changed while a month is closed leaves no line in no period or in two", async () => {
  const first = await anAccount();
  await anAccount();
  // In Lagos it is November already.
  at("2026-10-31T23:30:00.000Z");
  await fund(first, 7);
  at("2026-11-03T12:00:00.000Z");
  await begin("2026-10", noTime);
  context = { ...context, timeZone: "UTC" };
  const { period } = await close("2026-10");
  expect(period).toMatchObject({ lines: 3, closing: 2_007, to: "2026-10-31T23:59:59.999Z" });
  const { accounts } = await runs["periods accounts"](context, { month: "2026-10" });
  expect(new Set(accounts.map(({ to, time_zone }) => `${to} ${time_zone}`)).size).toBe(1);
  expect(await verifyMonth(context, "2026-10")).toEqual([]);
  at("2026-12-03T12:00:00.000Z");
  expect((await close("2026-11")).period).toMatchObject({ opening: 2_007, lines: 0, closing: 2_007 });
});

test("before any month is closed, the one is offered that has ended and whose orders are sent no more", async () => {
  const { queueMinutes } = context;
  const end = Date.parse("2026-11-30T23:00:00.000Z");
  const from = isoTime(end + (queueMinutes + 2) * MINUTE_MS);
  at(isoTime(Date.parse(from) - 1));
  expect(await runs["periods list"](context, {})).toMatchObject({ next: { month: "2026-10" } });
  at(from);
  expect(await runs["periods list"](context, {})).toMatchObject({ next: { month: "2026-11", from } });
});

test("a month that is closed in another zone begins where the one before ended, and the oldest one is offered", async () => {
  at("2026-08-10T12:00:00.000Z");
  await anAccount();
  at("2026-11-03T12:00:00.000Z");
  await close("2026-08");
  expect(await monthToClose(context.ledger, "2026-09", { ...context, timeZone: "UTC" })).toMatchObject({
    ...{ from: "2026-08-31T23:00:00.000Z", to: "2026-09-30T23:59:59.999Z" },
  });
  expect(await runs["periods list"](context, {})).toMatchObject({ next: { month: "2026-09" } });
});

test("a month is not closed if a run in another zone replaces an account's period while its sums are written", async () => {
  await anAccount();
  await anAccount();
  at("2026-11-03T12:00:00.000Z");
  const { db } = context.ledger;
  // The second time other periods were replaced before.
  for (const _time of [1, 2]) {
    const toClose = await begin("2026-10", deadlineIn(9_000));
    const inUtc = await monthToClose(context.ledger, "2026-10", { ...context, timeZone: "UTC" });
    beforeNext(db, "transactWrite", () =>
      continueClosing(context.ledger, inUtc, { phase: "close", done: 0, accounts: 2 }, noTime),
    );
    await expect(closeService(context.ledger, toClose, audited)).rejects.toThrow("close the month again");
  }
  expect((await runs["periods list"](context, {})).periods).toEqual([]);
  await close("2026-10");
  expect(await verifyMonth(context, "2026-10")).toEqual([]);
});

test.each([
  ["its wallet cannot be sealed", "update", "SET sealed_to"],
  ["its lines cannot be stored", "put", "fingerprints"],
  ["its period cannot be stored", "put", "closing_kobo"],
] as const)("an account is not closed if %s", async (_what, operation, part) => {
  await anAccount();
  at("2026-11-03T12:00:00.000Z");
  const month = await monthToClose(context.ledger, "2026-10", context);
  const failing = beforeEachCall(context.ledger.db, operation, (input) => {
    if (JSON.stringify(input).includes(part)) throw new Error("No answer");
  });
  const closing = continueClosing(context.ledger, month, { phase: "close", done: 0, accounts: 1 }, deadlineIn(9_000));
  await expect(closing).rejects.toThrow("No answer");
  failing.mockRestore();
  await close("2026-10");
  expect(await verifyMonth(context, "2026-10")).toEqual([]);
});

test("a month is not closed of which an account was closed in another zone, or was added since", async () => {
  await anAccount();
  await anAccount();
  at("2026-11-03T12:00:00.000Z");
  const toClose = await begin("2026-10", deadlineIn(9_000));
  const inUtc = await monthToClose(context.ledger, "2026-10", { ...context, timeZone: "UTC" });
  const { from, to, time_zone } = inUtc;
  for (const differing of [inUtc, { ...toClose, from }, { ...toClose, to }, { ...toClose, time_zone }]) {
    await expect(closeService(context.ledger, differing, audited)).rejects.toThrow("Another run has closed acc_");
  }
  at("2026-10-31T12:00:00.000Z");
  await anAccount();
  at("2026-11-03T12:00:00.000Z");
  await expect(closeService(context.ledger, toClose, audited)).rejects.toThrow("An account was added");
  expect((await runs["periods list"](context, {})).periods).toEqual([]);
});

test("an account without a wallet keeps a month from being closed, with a sentence", async () => {
  const account = await anAccount();
  const { table, db } = context.ledger;
  await db.delete({ TableName: table, Key: { pk: walletPk(account) } });
  at("2026-11-03T12:00:00.000Z");
  await expect(close("2026-10")).rejects.toThrow(`${account} has no wallet`);
});

test("what was summed up of one account is not taken for another's, also of the same balance", async () => {
  const [first, other] = [await anAccount(), await anAccount()];
  at("2026-11-03T12:00:00.000Z");
  const toClose = await monthToClose(context.ledger, "2026-10", context);
  await continueClosing(context.ledger, toClose, { phase: "seal", done: 0, accounts: 2 }, noTime);
  const { fold } = await foldNext(context.ledger, { ...toClose, account_id: other }, emptyFold);
  const compared = positionAfter(toClose.to, { balance_after_kobo: fold.balance_kobo, version: fold.version });
  const closing = { phase: "close" as const, done: 0, accounts: 2, begun: { fold, compared, account_id: other } };
  await continueClosing(context.ledger, toClose, closing, deadlineIn(9_000));
  const { period } = await close("2026-10");
  expect(period).toMatchObject({ lines: 2, closing: 2_000 });
  const { accounts } = await runs["periods accounts"](context, { month: "2026-10" });
  expect(accounts).toMatchObject([
    { account_id: first, closing: 1_000 },
    { account_id: other, closing: 1_000 },
  ]);
  expect(await verifyMonth(context, "2026-10")).toEqual([]);
});

test("a statement after closed months begins with the closing balance of the last one, and reads no line of before it", async () => {
  at("2026-09-05T12:00:00.000Z");
  const account = await anAccount();
  at("2026-10-31T22:59:59.998Z");
  const last = await order(account);
  at("2026-11-03T12:00:00.000Z");
  await close("2026-09");
  await close("2026-10");
  await order(account);
  const statementFrom = (from: string) => readStatement(context.ledger, account, { from, to: "9999" });
  const { lines } = await statementFrom("0000");
  // The last millisecond of the month.
  expect(await statementFrom(last.created_at)).toMatchObject({ opening_kobo: 1_000_00, lines: lines.slice(1) });
  // Nobody deletes a line; that it is not missed shows that it is not read.
  const { table, db } = context.ledger;
  for (const pk of [fundingPk(lines[0]?.id ?? ""), last.pk]) await db.delete({ TableName: table, Key: { pk } });
  const november = await statementFrom("2026-10-31T23:00:00.000Z");
  expect(november).toMatchObject({ opening_kobo: 500_00, closing_kobo: 0, lines: [{ balance_after_kobo: 0 }] });
});

test.each<readonly [string, (account: string) => Promise<unknown>, RegExp]>([
  [
    "an amount that was changed",
    (account) => changeItem(context.ledger, adjustmentPk(account, "case-3"), { amount_kobo: 1 }),
    /^line 5 differs: now it is adjustment case-3 of 1 kobo at \S+, which was another line$/,
  ],
  [
    "a line that was deleted",
    (account) =>
      context.ledger.db.delete({ TableName: context.ledger.table, Key: { pk: adjustmentPk(account, "case-5") } }),
    /^it lacks 1 line behind the last one, number 6/,
  ],
  [
    "a line that was added",
    (account) =>
      changeItem(context.ledger, adjustmentPk(account, "late"), {
        ...{ list_key: entriesList(account), account_id: account, created_at: "2026-10-05T12:00:00.002Z" },
        ...{ kind: "adjustment", entry_id: "late", amount_kobo: 5 },
      }),
    /^line 2 differs: now it is adjustment late of 5 kobo/,
  ],
  [
    "a line that was added behind the last one",
    (account) =>
      changeItem(context.ledger, adjustmentPk(account, "last"), {
        ...{ list_key: entriesList(account), account_id: account, created_at: "2026-10-06T12:00:00.000Z" },
        ...{ kind: "adjustment", entry_id: "last", amount_kobo: 5 },
      }),
    /^line 8 differs: now it is adjustment last of 5 kobo at \S+, which was not there$/,
  ],
  [
    "an account whose period is gone",
    (account) =>
      context.ledger.db.delete({ TableName: context.ledger.table, Key: { pk: periodPk("2026-10", account) } }),
    /^it has no closed period$/,
  ],
])("verifying a closed month names %s", async (_name, tamper, expected) => {
  const account = await anAccount();
  const untouched = await anAccount();
  for (let line = 0; line < 6; line += 1) {
    nowMs += 1_000;
    const adjustmentId = `case-${line}`;
    await adjustWallet(context.ledger, { accountId: account, adjustmentId, amount_kobo: 100, why: "test" });
  }
  at("2026-11-03T12:00:00.000Z");
  await close("2026-10");
  await tamper(account);
  const differences = await verifyMonth(context, "2026-10");
  expect(differences[0]).toMatchObject({ account_id: account, what: expect.stringMatching(expected) });
  expect(differences).not.toContainEqual(expect.objectContaining({ account_id: untouched }));
});

test.each<readonly [string, object, RegExp | undefined, RegExp | undefined]>([
  [
    "the sum of a kind",
    { kinds: { funding: { count: 1, kobo: 1 } } },
    /sums of its kinds differ/,
    /accounts in kinds$/,
  ],
  ["the number of lines", { lines: 2 }, /has 1 line, and was closed with 2/, /accounts in lines$/],
  ["the opening", { opening_kobo: 1 }, /opens with 0 kobo, and was closed with 1/, /accounts in opening_kobo$/],
  ["the closing", { closing_kobo: 1 }, /closes with 100000 kobo, and was closed with 1/, /accounts in closing_kobo$/],
  ["the begin", { from: "2026-09-30T23:00:00.001Z" }, /unlike the service/, undefined],
  ["the end", { to: "2026-10-31T22:59:59.998Z" }, /unlike the service/, undefined],
  ["the zone", { time_zone: "UTC" }, /unlike the service/, undefined],
  ["the hash", { hash: "0".repeat(64) }, /^its hash differs, and none of its lines$/, /accounts in hash$/],
  ["the number of open orders", { open_orders: 1 }, undefined, /accounts in open_orders$/],
])(
  "verifying a closed month finds that %s of an account was changed, and whether the service has another sum",
  async (_name, changes, ofAccount, ofService) => {
    const account = await anAccount();
    at("2026-11-03T12:00:00.000Z");
    await close("2026-10");
    await changeItem(context.ledger, periodPk("2026-10", account), changes);
    const differences = await verifyMonth(context, "2026-10");
    const whatOf = (of: string | null) => differences.find(({ account_id }) => account_id === of)?.what;
    for (const [of, expected] of [[account, ofAccount] as const, [null, ofService] as const]) {
      if (expected === undefined) expect(whatOf(of)).toBeUndefined();
      else expect(whatOf(of)).toMatch(expected);
    }
  },
);

test("verifying a closed month names a broken chain, and its lines that differ too", async () => {
  at("2026-09-05T12:00:00.000Z");
  const account = await anAccount();
  at("2026-10-05T12:00:00.000Z");
  await adjustWallet(context.ledger, { accountId: account, adjustmentId: "case", amount_kobo: 100, why: "test" });
  at("2026-11-03T12:00:00.000Z");
  await close("2026-09");
  await close("2026-10");
  for (const pk of [periodPk("2026-09", account), periodPk("2026-09")]) {
    await changeItem(context.ledger, pk, { hash: "other" });
  }
  await changeItem(context.ledger, adjustmentPk(account, "case"), { amount_kobo: 99 });
  expect(await runs["periods verify"](context, { month: "2026-10" })).toMatchObject({ ok: false });
  expect(await verifyMonth(context, "2026-10")).toMatchObject([
    { account_id: account, what: "its chain is broken: the period before has another hash" },
    { account_id: account, what: expect.stringMatching(/^line 1 differs: now it is adjustment case of 99 kobo/) },
    { account_id: null, what: "its chain is broken: the month before has another hash" },
  ]);
});

test("the fingerprints of another run, or none, are no difference: the hash decides", async () => {
  const account = await anAccount();
  at("2026-11-03T12:00:00.000Z");
  await close("2026-10");
  const pk = periodLinesPk("2026-10", account, 0);
  await changeItem(context.ledger, pk, { fingerprints: new Uint8Array(4) });
  expect(await verifyMonth(context, "2026-10")).toEqual([]);
  await context.ledger.db.delete({ TableName: context.ledger.table, Key: { pk } });
  expect(await verifyMonth(context, "2026-10")).toEqual([]);
});

/** As docs/finance.md says it. */
const documentedHash = (previous: string, content: unknown): string =>
  createHash("sha256")
    .update(`${previous}\n${JSON.stringify(content)}`)
    .digest("hex");

test("lines are hashed as documented in steps of any size, also if many have the same time", async () => {
  const account = await anAccount();
  for (let index = 0; index < 9; index += 1) {
    if (index % 3 === 0) nowMs += 1;
    const adjustmentId = `c-${8 - index}`;
    await adjustWallet(context.ledger, { accountId: account, adjustmentId, amount_kobo: 1, why: "test" });
  }
  // At one time too: a statement has the funding first, and the hash the order.
  await order(account);
  await fund(account, 1);
  const period = {
    ...{ account_id: account, month: "2026-10", time_zone: "UTC", previous: "" },
    ...{ from: "2026-10-01T00:00:00.000Z", to: "2026-10-31T23:59:59.999Z" },
  };
  const { lines } = await readStatement(context.ledger, account, period);
  // Later lines alone: the opening balance is behind the first steps.
  const late = { ...period, from: lines[4]?.at ?? "" };
  for (const [of, expected] of [
    [period, { lines: 12, opening_kobo: 0, balance_kobo: 501_09 }],
    [late, { lines: 8, opening_kobo: 1_000_03, balance_kobo: 501_09 }],
  ] as const) {
    const { from, to } = of;
    const ordered = lines
      .filter((line) => line.at >= from)
      .map(
        ({ at: bookedAt, kind, id, caller_reference, network, effect_kobo }) =>
          [bookedAt, kind, id, caller_reference, network, effect_kobo] as const,
      )
      .toSorted((one, other) => (one.slice(0, 3).join(" ") < other.slice(0, 3).join(" ") ? -1 : 1));
    const first = documentedHash("", [account, "2026-10", "UTC", from, to, expected.opening_kobo]);
    for (const stepLines of [2, 4, 5, 7, 11, 100]) {
      let step = await foldNext(context.ledger, of, emptyFold, stepLines);
      while (!step.isComplete) step = await foldNext(context.ledger, of, step.fold, stepLines);
      expect(step.fold).toMatchObject({ ...expected, hash: ordered.reduce(documentedHash, first) });
    }
  }
});

/** Books lines of 1 kobo each, a millisecond after another, as many at once as the emulator takes. */
const bookLines = async (accountId: string, count: number): Promise<void> => {
  const { table, db } = context.ledger;
  const entries = Array.from({ length: count }, () => {
    nowMs += 1;
    const entry_id = String(nowMs);
    const what = { kind: "adjustment", entry_id, amount_kobo: 1, why: "test", created_at: isoTime(nowMs) };
    return { pk: adjustmentPk(accountId, entry_id), list_key: entriesList(accountId), account_id: accountId, ...what };
  });
  await putItems(db, table, entries);
  const { balance_kobo, version } = await readWallet(context.ledger, accountId);
  const summed = { balance_kobo: balance_kobo + count, version: version + count };
  await changeItem(context.ledger, walletPk(accountId), summed);
};

test("an account of more than 5,000 lines is closed and verified part by part, and each change of it is named", async () => {
  const account = await anAccount();
  await bookLines(account, 5_050);
  const last = String(nowMs);
  at("2026-11-02T12:00:00.000Z");
  await bookLines(account, 5_050);
  at("2026-11-03T12:00:00.000Z");
  const month = await monthToClose(context.ledger, "2026-10", context);
  const progress: unknown[] = [];
  let closing: Closing | undefined = { phase: "seal", done: 0, accounts: 1 };
  while (closing !== undefined) {
    const { phase, done, begun }: Closing = closing;
    progress.push([phase, done, begun?.fold.lines, begun?.compared !== undefined]);
    closing = (await continueClosing(context.ledger, month, closing, noTime))?.closing;
  }
  expect(progress).toEqual([
    ["seal", 0, undefined, false],
    ["close", 0, undefined, false],
    ["close", 0, 4_999, false],
    ["close", 0, 5_051, true],
    ["close", 1, undefined, false],
  ]);
  await closeService(context.ledger, month, audited);
  const service = await readServicePeriod(context.ledger, "2026-10");
  if (service === undefined) throw new Error("The month is not closed");
  expect(service).toMatchObject({ lines: 5_051, closing_kobo: 1_000_00 + 5_050 });
  const verify = async () => {
    const first = await continueVerifying(context.ledger, service, { done: 0 }, noTime);
    expect(first).toMatchObject({ differences: [], next: { done: 0, fold: { account_id: account, lines: 4_999 } } });
    const next = await continueVerifying(context.ledger, service, first.next ?? { done: 0 }, noTime);
    expect(next.next).toMatchObject({ done: 1 });
    return next.differences.map(({ what }) => what);
  };
  expect(await verify()).toEqual([]);
  const change = (id: string) => changeItem(context.ledger, adjustmentPk(account, id), { amount_kobo: 2 });
  await change(last);
  expect(await verify()).toEqual([
    expect.stringContaining(`line 5051 differs: now it is adjustment ${last} of 2 kobo`),
  ]);
  const early = String(Number(last) - 5_000);
  await change(early);
  expect(await verify()).toEqual([expect.stringContaining(`line 51 differs: now it is adjustment ${early} of 2 kobo`)]);
});

test("the lines of a closed period have the cost of their order where it is known", async () => {
  const account = await anAccount();
  const [known] = [await order(account), await order(account)];
  await changeItem(context.ledger, known.pk, { cost_kobo: 485_00 });
  at("2026-11-03T12:00:00.000Z");
  await close("2026-10");
  const { lines } = await runs["periods lines"](context, { month: "2026-10", account });
  expect(lines.find(({ id }) => id === referenceOf(known))).toMatchObject({ effect: -500, cost: 485 });
  expect(lines.map(({ cost }) => cost).toSorted()).toEqual([485, null, null]);
});

test("an order that waits when its month is closed has the cost of its debit in it, and one from before the books changes none", async () => {
  at("2026-09-30T12:00:00.000Z");
  const account = await anAccount();
  const beforeBooks = await order(account);
  at("2026-10-31T12:00:00.000Z");
  const queued = await order(account);
  await changeItem(context.ledger, queued.pk, { cost_kobo: 485_00 });
  await enqueueOrder(context.ledger, queued, { kind: "airtime", network: "mtn" }, deadlineIn(29_000));
  at("2026-11-03T12:00:00.000Z");
  await close("2026-10");
  const charged = { status: "success", cost_kobo: koboSchema.parse(480_00) } as const;
  for (const each of [beforeBooks, queued]) await settleTransaction(context.ledger, each, charged, deadlineIn(9_000));
  at("2026-12-03T12:00:00.000Z");
  await close("2026-11");
  const linesOf = (month: string) => runs["periods lines"](context, { month, account });
  expect(await linesOf("2026-10")).toMatchObject({ lines: [{ cost: 485 }], cost_changes: [] });
  expect((await linesOf("2026-11")).cost_changes).toMatchObject([
    { id: referenceOf(queued), at: "2026-11-03T12:00:00.000Z", cost: -5, unknown_price: 0, balance: 0 },
  ]);
});

test("a month is not closed while an order of it can leave the queue, because the index may have it in no list then", async () => {
  at("2026-10-31T22:00:00.000Z");
  const account = await anAccount();
  at("2026-10-31T22:59:59.998Z");
  const queued = await order(account);
  await enqueueOrder(context.ledger, queued, { kind: "airtime", network: "mtn" }, deadlineIn(29_000));
  const moving = hideFromIndex(
    context.ledger.db,
    ({ pk }, { IndexName }) => pk === queued.pk && IndexName === "by_open",
  );
  at("2026-10-31T23:16:59.999Z");
  await expect(close("2026-10")).rejects.toThrow("2026-10-31T23:17:00.000Z on, when no order of it is sent any more");
  moving.mockRestore();
  nowMs += 1;
  expect((await close("2026-10")).period).toMatchObject({ open_orders: 1 });
});

test("an order that begins to wait again while the open orders of a month are read is one of them, once", async () => {
  at("2026-10-31T12:00:00.000Z");
  const account = await anAccount();
  const sent = await order(account);
  at("2026-11-03T12:00:00.000Z");
  let isSent = true;
  const queries = beforeEachCall(context.ledger.db, "query", async ({ ExpressionAttributeValues }) => {
    if (!isSent || ExpressionAttributeValues?.[":partition"] !== sent.open) return;
    isSent = false;
    await enqueueOrder(context.ledger, sent, { kind: "airtime", network: "mtn" }, deadlineIn(29_000));
  });
  await close("2026-10");
  queries.mockRestore();
  expect(await runs["periods show"](context, { month: "2026-10" })).toMatchObject({ open_orders: 1 });
});

test("orders that end after a month, before the month is closed, change their cost at the end of the month, by id and after those that ended in it", async () => {
  at("2026-10-31T12:00:00.000Z");
  const account = await anAccount(1_500);
  const ended = await order(account);
  const data = await order(account);
  const airtime = await order(account, { type: "airtime" });
  at("2026-11-03T12:00:00.000Z");
  await close("2026-10");
  const charged = { status: "success", cost_kobo: koboSchema.parse(480_00) } as const;
  at("2026-11-20T12:00:00.000Z");
  await settleTransaction(context.ledger, ended, charged, deadlineIn(9_000));
  at("2026-12-02T12:00:00.000Z");
  for (const each of [data, airtime]) await settleTransaction(context.ledger, each, charged, deadlineIn(9_000));
  await close("2026-11");
  const change = { at: "2026-11-30T22:59:59.999Z", cost: 480, unknown_price: 500 };
  expect((await runs["periods lines"](context, { month: "2026-11", account })).cost_changes).toMatchObject([
    { id: referenceOf(ended), ...change, at: "2026-11-20T12:00:00.000Z" },
    { id: referenceOf(airtime), ...change },
    { id: referenceOf(data), ...change },
  ]);
});

test.each([
  ["are missing", false],
  ["are missing and add up to nothing", true],
])("the lines of a closed period end with an error if some %s", async (_, isRefunded) => {
  const account = await anAccount();
  const placed = await order(account);
  if (isRefunded) await settleTransaction(context.ledger, placed, NOT_DELIVERED, deadlineIn(9_000));
  at("2026-11-03T12:00:00.000Z");
  await close("2026-10");
  const lines = () => runs["periods lines"](context, { month: "2026-10", account });
  const missing = new Set<unknown>([placed.pk, refundPk(placed)]);
  const lagging = hideFromIndex(context.ledger.db, ({ pk }) => missing.has(pk));
  await expect(lines()).rejects.toThrow(`The lines of ${account} are not those with which 2026-10 was closed`);
  lagging.mockRestore();
  expect((await lines()).lines).toHaveLength(isRefunded ? 3 : 2);
});

test("a month is closed and verified whatever accounts a page of the index has, also none", async () => {
  at("2026-09-10T12:00:00.000Z");
  const accounts = [await anAccount(), await anAccount()];
  at("2026-10-05T12:00:00.000Z");
  const { db } = context.ledger;
  const first = { pk: accountPk(""), created_at: EPOCH };
  let pages = 0;
  vi.spyOn(db, "query").mockImplementation(async (input: QueryCommandInput) => {
    const isOfAccounts = input.ExpressionAttributeValues?.[":partition"] === ACCOUNTS_LIST;
    if (!isOfAccounts) return db.send(new QueryCommand(input));
    pages += 1;
    if (pages > 40) throw new Error("A page is read again and again");
    if (input.ExclusiveStartKey !== undefined) return db.send(new QueryCommand({ ...input, Limit: 1 }));
    return { Items: [], Count: 0, LastEvaluatedKey: { ...first, list_key: ACCOUNTS_LIST } };
  });
  expect((await close("2026-09")).period).toMatchObject({ accounts: 2, closing: 2_000 });
  expect(await verifyMonth(context, "2026-09")).toEqual([]);
  for (const account of accounts) await changeItem(context.ledger, periodPk("2026-09", account), { closing_kobo: 1 });
  expect(await verifyMonth(context, "2026-09")).toMatchObject([
    ...accounts.map((account_id) => ({ account_id })),
    { account_id: null },
  ]);
});

test("a month is closed while orders are placed: the wallet changes after each read of its lines", async () => {
  const account = await anAccount(1_000_000);
  at("2026-11-03T12:00:00.000Z");
  let placed = 0;
  beforeEachCall(context.ledger.db, "get", async ({ Key }) => {
    if (Key?.pk !== walletPk(account)) return;
    placed += 1;
    await order(account);
  });
  expect((await close("2026-10")).period).toMatchObject({ accounts: 1 });
  expect(placed).toBeGreaterThan(0);
  expect(await verifyMonth(context, "2026-10")).toEqual([]);
});
