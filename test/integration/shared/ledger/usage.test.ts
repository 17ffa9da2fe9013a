import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { CallerLimits } from "../../../../shared/contract/order-limits.ts";
import { DAY_MS } from "../../../../shared/contract/values/durations.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { type DebitGuards, type OpenResult, openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import { keyUsagePk } from "../../../../shared/ledger/schema.ts";
import { NOT_DELIVERED, settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { readKeyUsages, type Usage } from "../../../../shared/ledger/usage.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { faultyLedgerForTests } from "../../../builders/ledger/faulty-ledger.ts";
import { wrongUsage } from "../../../builders/ledger/usage.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";

/** Goal: no limit is passed, and what was counted is what is not refunded. Method: simultaneous orders, faults on the wire, and a recount. */
const timeZone = "Africa/Lagos";

const ledger = await faultyLedgerForTests();

/** An account whose orders have the limits, and what it has placed. */
const anAccount = async (limits: CallerLimits, naira = 100_000) => {
  const accountId = await ledger.aWallet(naira);
  const keyId = `key_${randomUUID()}`;
  const placed: Transaction[] = [];
  const open = async (
    changes: Partial<Transaction> = {},
    guards: DebitGuards = {},
  ): Promise<OpenResult & { readonly pk: string }> => {
    const transaction = ledger.aTransaction(accountId, { key_id: keyId, ...changes });
    placed.push(transaction);
    const opened = await openTransaction(ledger, transaction, [], deadlineIn(29_000), {
      limits: { limits, timeZone },
      ...guards,
    });
    return { ...opened, pk: transaction.pk };
  };
  const stored = async () => {
    const all = await Promise.all(placed.map(({ pk }) => readTransaction(ledger, pk)));
    return all.flatMap((transaction) => transaction ?? []);
  };
  return {
    ...{ accountId, keyId, open, stored },
    refund: async (pk: string) => {
      const transaction = await readTransaction(ledger, pk);
      if (transaction === undefined) throw new Error("There is no such transaction");
      return settleTransaction(ledger, transaction, NOT_DELIVERED, deadlineIn(29_000));
    },
    used: async (): Promise<Usage> => readWallet(ledger, accountId),
    keyUsed: async (): Promise<Usage> => (await readKeyUsages(ledger, [keyId]))[0] ?? {},
    wrong: async () => wrongUsage(ledger, accountId, await stored()),
  };
};
const orders = (used: Usage) => [used.day_orders, used.month_orders];
/** The orders of the day and the month that are counted for an account, and for its key. */
const counted = async ({ used, keyUsed }: Awaited<ReturnType<typeof anAccount>>) => [
  ...orders(await used()),
  ...orders(await keyUsed()),
];

test("of 50 simultaneous orders against a day's limit of 10, 10 are opened, 40 refused, and one logs that little is left", async () => {
  const log = captureLog();
  const account = await anAccount({ account: { day_naira: 5_000 } });
  const opened = await Promise.all(Array.from({ length: 50 }, () => account.open()));
  const count = (kind: OpenResult["kind"]) => opened.filter((each) => each.kind === kind).length;
  expect([count("opened"), count("limit_reached")]).toEqual([10, 40]);
  expect(await account.wrong()).toEqual([]);
  expect(orders(await account.used())).toEqual([10, 10]);
  expect(await ledger.balanceOf(account.accountId)).toBe(100_000 - 10 * 500);
  const near = { account: account.accountId, limit: "day_naira", max: 5_000 };
  expect(log.lines("limit.near")).toEqual([expect.objectContaining(near)]);
  const refused = opened.find(({ kind }) => kind === "limit_reached");
  expect(refused).toMatchObject({ reached: { by: "account", limit: "day_naira", max: 5_000, used: 5_000 } });
});

test("a limit of the key refuses beside a larger one of the account, and both count", async () => {
  const account = await anAccount({ account: { month_orders: 9 }, key: { day_orders: 3 } });
  const opened = await Promise.all(Array.from({ length: 20 }, () => account.open()));
  expect(opened.filter(({ kind }) => kind === "opened")).toHaveLength(3);
  expect(await counted(account)).toEqual([3, 3, 3, 3]);
  const other = await account.open({ key_id: `key_${randomUUID()}` });
  expect(other).toMatchObject({ kind: "opened" });
  expect(orders(await account.used())).toEqual([4, 4]);
  expect(await account.open()).toMatchObject({ reached: { by: "key", limit: "day_orders", max: 3, used: 3 } });
  expect(await account.wrong()).toEqual([]);
});

test("a refund gives back once, so the next order is opened, and a success gives nothing back", async () => {
  const account = await anAccount({ account: { day_orders: 1 }, key: { day_naira: 500 } });
  const first = await account.open();
  expect((await account.open()).kind).toBe("limit_reached");
  await Promise.all([account.refund(first.pk), account.refund(first.pk)]);
  expect(await counted(account)).toEqual([0, 0, 0, 0]);
  const second = await account.open();
  expect(second.kind).toBe("opened");
  await account.refund(first.pk);
  expect((await account.open()).kind).toBe("limit_reached");
  expect(await account.wrong()).toEqual([]);
});

test("the day begins at midnight in the zone: its first order counts anew, the month goes on, and a slow clock counts in the day that has begun", async () => {
  // 22:59:59.999 UTC is the last moment of the day in Lagos.
  ledger.nowMs = Date.parse("2026-11-21T22:59:59.999Z");
  const account = await anAccount({ account: { day_orders: 2, month_orders: 5 } });
  for (let order = 0; order < 2; order += 1) expect((await account.open()).kind).toBe("opened");
  expect((await account.open()).kind).toBe("limit_reached");
  ledger.nowMs += 1;
  expect(await account.open()).toMatchObject({ kind: "opened", counted: { day: "2026-11-22" } });
  expect(orders(await account.used())).toEqual([1, 3]);
  ledger.nowMs -= 1_000;
  expect(await account.open()).toMatchObject({ kind: "opened", counted: { day: "2026-11-22" } });
  expect((await account.open()).kind).toBe("limit_reached");
  ledger.nowMs += 2 * DAY_MS;
  expect((await account.open()).kind).toBe("opened");
  expect(await account.open()).toMatchObject({ reached: { limit: "month_orders", max: 5, used: 5 } });
  ledger.nowMs = Date.parse("2026-12-01T00:00:00.000Z");
  expect((await account.open()).kind).toBe("opened");
  expect(orders(await account.used())).toEqual([1, 1]);
  expect(await account.wrong()).toEqual([]);
});

test("a refund of yesterday's order lowers the month's counters and not today's, and one of last month's order lowers none", async () => {
  ledger.nowMs = Date.parse("2026-11-29T12:00:00.000Z");
  const account = await anAccount({ account: { day_orders: 9 }, key: { day_orders: 9 } });
  const [one, other] = [await account.open(), await account.open()];
  ledger.nowMs += DAY_MS;
  await account.open();
  expect(orders(await account.used())).toEqual([1, 3]);
  expect(await account.refund(one.pk)).toEqual({ kind: "applied" });
  expect(await counted(account)).toEqual([1, 2, 1, 2]);
  ledger.nowMs += DAY_MS;
  await account.open();
  expect(await account.refund(other.pk)).toEqual({ kind: "applied" });
  expect(await counted(account)).toEqual([1, 1, 1, 1]);
  expect(await account.wrong()).toEqual([]);
});

test("with a window, a quota and limits at once, an order is refused by one of them without counting for another, also as the month changes between it and its refund", async () => {
  ledger.nowMs = Date.parse("2026-11-30T22:59:00.000Z");
  const account = await anAccount({ account: { month_orders: 5 }, key: { day_orders: 2 } });
  const window = { table: ledger.table, pk: `duplicate#${randomUUID()}`, windowS: 300 };
  const next = (isConfirmed = false, changes: Partial<Transaction> = {}) =>
    account.open(changes, {
      quota: { entitlement: "vtu", perDay: 3 },
      duplicates: { ...window, isConfirmed },
    });
  const first = await next();
  expect(first).toMatchObject({ kind: "opened", counted: { day: "2026-11-30" } });
  ledger.nowMs += 2 * 60_000;
  expect(await next()).toMatchObject({ kind: "possible_duplicate", earlier: { pk: first.pk } });
  expect((await next(false, { pk: first.pk })).kind).toBe("exists");
  expect(await account.used()).toMatchObject({ usage_day: "2026-11-30", day_orders: 1, month_orders: 1 });
  expect(await account.refund(first.pk)).toEqual({ kind: "applied" });
  const second = await next();
  expect(second).toMatchObject({ kind: "opened", counted: { day: "2026-12-01" } });
  expect((await next(true)).kind).toBe("opened");
  expect(await next(true)).toMatchObject({ reached: { by: "key", limit: "day_orders" } });
  expect(await account.refund(second.pk)).toEqual({ kind: "applied" });
  expect((await next()).kind).toBe("possible_duplicate");
  expect((await next(true)).kind).toBe("opened");
  // Two of December are not refunded. The quota counts the refunded one too, and is used up.
  expect(await counted(account)).toEqual([2, 2, 2, 2]);
  ledger.nowMs += DAY_MS;
  expect((await next()).kind).toBe("opened");
  expect(await account.wrong()).toEqual([]);
});

test("a debit whose answer is lost is counted once, and one that is void is not counted", async () => {
  const account = await anAccount({ account: { day_orders: 5 }, key: { day_orders: 5 } });
  ledger.firstWrites(1, "answer_lost");
  expect((await account.open()).kind).toBe("opened");
  ledger.firstWrites(2, "never_arrives");
  expect((await account.open()).kind).toBe("void");
  ledger.reset();
  expect(await counted(account)).toEqual([1, 1, 1, 1]);
  expect(await account.wrong()).toEqual([]);
});

test("an order is refunded although the counters of its key are gone, as after a backup that had a part of its debit", async () => {
  const { keyId, accountId, open, refund } = await anAccount({ account: { day_orders: 5 }, key: { day_orders: 5 } });
  const { pk } = await open();
  await ledger.db.delete({ TableName: ledger.table, Key: { pk: keyUsagePk(keyId) } });
  expect(await refund(pk)).toEqual({ kind: "applied" });
  const { balance_kobo, day_orders } = await readWallet(ledger, accountId);
  expect([balance_kobo, day_orders]).toEqual([100_000_00, 0]);
  expect(await readKeyUsages(ledger, [keyId])).toEqual([]);
});

test("an order that the wallet cannot pay is refused for that, and not counted", async () => {
  const account = await anAccount({ account: { day_orders: 5 }, key: { day_orders: 5 } }, 500);
  expect((await account.open()).kind).toBe("opened");
  expect((await account.open()).kind).toBe("insufficient_balance");
  ledger.nowMs += DAY_MS;
  expect((await account.open()).kind).toBe("insufficient_balance");
  expect(await account.wrong()).toEqual([]);
});

test("a limit that is lowered below what is used refuses, and one that is raised is logged anew near its end", async () => {
  const log = captureLog();
  const limits = { account: { day_orders: 5 } };
  const account = await anAccount(limits);
  for (let order = 0; order < 5; order += 1) expect((await account.open()).kind).toBe("opened");
  limits.account = { day_orders: 3 };
  expect((await account.open()).kind).toBe("limit_reached");
  limits.account = { day_orders: 10 };
  for (let order = 0; order < 5; order += 1) expect((await account.open()).kind).toBe("opened");
  expect(log.lines("limit.near").map(({ max }) => max)).toEqual([5, 10]);
});
