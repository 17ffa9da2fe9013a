import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import * as z from "#zod";
import { createAccount } from "../../../../shared/access/accounts.ts";
import type { ActionContext } from "../../../../shared/actions/action-context.ts";
import { runs } from "../../../../shared/actions/runs.ts";
import type { ActionOutput } from "../../../../shared/contract/actions/actions.ts";
import { refundName, reversalName } from "../../../../shared/contract/corrections.ts";
import { marginReport } from "../../../../shared/contract/reports/margin-report.ts";
import { periodCsvColumns } from "../../../../shared/contract/reports/statement-csv.ts";
import { koboFromNaira, koboFromText, koboSchema, nearestKobo } from "../../../../shared/contract/values/money.ts";
import { adjustWallet, fundWallet } from "../../../../shared/ledger/ledger-entry.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import { accountIdsOf } from "../../../../shared/ledger/query-index.ts";
import { transactionPk } from "../../../../shared/ledger/schema.ts";
import { NOT_DELIVERED, type Settlement, settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { referenceOf, type Transaction } from "../../../../shared/ledger/transaction.ts";
import { advanceSums } from "../../../../shared/margin/order-sums.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { pagesOf } from "../../../../shared/platform/pages.ts";
import { sum } from "../../../../shared/platform/sum.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { type ExportedAccount, exportFormats, journalAccounts } from "../../../../tools/admin/views/period-export.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { anActionContext } from "../../../builders/ledger/action-context.ts";
import { closeMonth } from "../../../builders/ledger/close-month.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";
import { temporaryFolder } from "../../../builders/run/cleanups.ts";
import { testWith } from "../../../builders/service/is-installed.ts";

/** Goal: the files of a closed month say what the ledger says. Method: the real hledger reads the journal. */
let context: ActionContext;
let nowMs = Date.parse("2026-10-05T12:00:00.000Z");
let accounts: readonly [string, string];
const MONTH = "2026-10";

const orders: Transaction[] = [];
const order = async (accountId: string, costKobo?: number) => {
  nowMs += 1_000;
  const now = isoTime(nowMs);
  const transaction = aTransaction({
    ...{ pk: transactionPk(`T${String(orders.length + 1).padStart(25, "0")}`), list_key: `${accountId}#live` },
    ...{ account_id: accountId, created_at: now, updated_at: now, listed_at: now },
    description: '=MTN; 1GB | "data"',
  });
  orders.push(transaction);
  await openTransaction(context.ledger, transaction, [], deadlineIn(29_000));
  if (costKobo !== undefined) await changeItem(context.ledger, transaction.pk, { cost_kobo: costKobo });
  return transaction;
};

const fund = (accountId: string, fundingId: string, naira: number) =>
  fundWallet(context.ledger, { accountId, fundingId, amountKobo: koboFromNaira(naira) });

const adjust = (accountId: string, adjustmentId: string, amount_kobo: number) =>
  adjustWallet(context.ledger, { accountId, adjustmentId, amount_kobo, why: "why" });

const anAccount = async (naira: number): Promise<string> => {
  nowMs += 1;
  const { account_id: accountId } = await createAccount(context.accounts, { name: "test", whitelist: [] });
  await fund(accountId, `bank-${accountId}`, naira);
  return accountId;
};

beforeAll(async () => {
  context = anActionContext(await freshTables(), { clock: () => nowMs });
  accounts = [await anAccount(5_000.07), await anAccount(600)];
  const [one, other] = accounts;
  const undelivered = await order(one, 485_00);
  await order(one, 512_35);
  await order(one);
  await order(other);
  await settleTransaction(context.ledger, await order(one, 490_00), NOT_DELIVERED, deadlineIn(9_000));
  await adjust(one, "case-1", -19_99);
  await adjust(one, refundName(referenceOf(undelivered)), 500_00);
  await fund(one, "GTB-1", 40);
  await adjust(one, reversalName("GTB-1"), -40_00);
  await fund(other, "GTB-1-again", 40);
  nowMs = Date.parse("2026-11-03T12:00:00.000Z");
  await closeMonth(context, MONTH, (ms) => {
    nowMs += ms;
  });
});

type Lines = ActionOutput<"periods lines">;
async function* exported(month: string): AsyncGenerator<ExportedAccount> {
  for (const sums of (await runs["periods accounts"](context, { month })).accounts) {
    const account = sums.account_id;
    yield { sums, pages: pagesOf((cursor) => runs["periods lines"](context, { month, account, cursor })) };
  }
}

const textOf = async (format: keyof typeof exportFormats, month = MONTH): Promise<string> => {
  let text = "";
  for await (const part of exportFormats[format](await runs["periods show"](context, { month }), exported(month))) {
    text += part;
  }
  return text;
};

const testWithHledger = testWith("hledger");

/** What the real hledger prints. */
const hledger = (journal: string, ...args: readonly string[]): string => {
  const file = join(temporaryFolder(), "month.journal");
  writeFileSync(file, journal);
  return execFileSync("hledger", ["-f", file, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
};

const balances = (journal: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    hledger(journal, "balance", "--flat", "--empty", "--no-total", "-O", "csv")
      .trim()
      .split("\n")
      .slice(1)
      .map((row) => z.tuple([z.string(), z.string()]).parse(JSON.parse(`[${row}]`))),
  );

testWithHledger(
  "hledger finds that the journal balances, and that its balances are those of the ledger to the kobo",
  async () => {
    const journal = await textOf("journal");
    hledger(journal, "check", "accounts", "commodities");
    const total = hledger(journal, "balance", "-O", "csv").trim().split("\n").at(-1);
    expect(total).toBe('"total","0"');
    const { accounts: sums } = await runs["periods accounts"](context, { month: MONTH });
    const closing = Object.fromEntries(sums.map((each) => [each.account_id, each.closing]));
    const [one, other] = accounts;
    expect(closing).toEqual({ [one]: 3_980.08, [other]: 140 });
    expect(balances(journal)).toEqual({
      // The transfer that was credited to the wrong account, reversed and credited again is in it once.
      [journalAccounts.bank]: "NGN 5640.07",
      [`${journalAccounts.wallets}:${one}`]: "NGN -3980.08",
      [`${journalAccounts.wallets}:${other}`]: "NGN -140.00",
      [journalAccounts.float]: "NGN -997.35",
      [journalAccounts.cost]: "NGN 997.35",
      // The third order was refunded, with its cost.
      [journalAccounts.recovered]: "NGN -1487.35",
      // 500 less 485, 512.35 and 490: the second order was sold below its cost.
      [journalAccounts.margin]: "NGN -12.65",
      [journalAccounts.unknownCost]: "NGN -1000.00",
      // Of the failed order, and of the delivered one that an operator refunded.
      [journalAccounts.refunds]: "NGN 1000.00",
      [journalAccounts.adjustments]: "NGN -19.99",
      [journalAccounts.opening]: "0",
    });
  },
);

test("the journal names its accounts as the kept files of earlier months do", () => {
  expect(Object.values(journalAccounts)).toEqual([
    ...["assets:bank", "assets:upstream float", "liabilities:wallets", "equity:opening balances", "equity:adjustments"],
    ...["income:margin", "income:cost of orders", "income:unknown cost", "income:refunds", "expenses:cost"],
  ]);
});

testWithHledger("hledger refuses a journal whose lines do not lead to the closing balance", async () => {
  const [line = ""] = /\n2026-10-05 \(T?[^\n]*adjustment[^\n]*\n[^\n]*\n[^\n]*\n/.exec(await textOf("journal")) ?? [];
  expect(line).toContain("19.99");
  const without = (await textOf("journal")).replace(line, "\n");
  expect(() => hledger(without, "check")).toThrow(/balance assertion/);
});

testWithHledger(
  "the journals of two months make one set of books, and the second does not fit without the first",
  async () => {
    const [one, other] = accounts;
    nowMs = Date.parse("2026-11-10T12:00:00.000Z");
    const added = await anAccount(70);
    await order(one, 480_00);
    nowMs = Date.parse("2026-12-03T12:00:00.000Z");
    await closeMonth(context, "2026-11", (ms) => {
      nowMs += ms;
    });
    const november = await textOf("journal", "2026-11");
    const both = `${await textOf("journal")}\n${november}`;
    hledger(both, "check", "accounts", "commodities");
    expect(balances(both)).toMatchObject({
      [journalAccounts.bank]: "NGN 5710.07",
      [`${journalAccounts.wallets}:${one}`]: "NGN -3480.08",
      [`${journalAccounts.wallets}:${other}`]: "NGN -140.00",
      [`${journalAccounts.wallets}:${added}`]: "NGN -70.00",
      [journalAccounts.opening]: "0",
    });
    expect(() => hledger(november, "check")).toThrow(/balance assertion/);
  },
);

testWithHledger(
  "open orders are in the journal with the cost of their debit, in the float, and in no margin report",
  async () => {
    for (const accountId of await accountIdsOf(context.ledger))
      await advanceSums({ ...context.ledger, timeZone: context.timeZone }, accountId, deadlineIn(9_000));
    const months = await Promise.all([MONTH, "2026-11"].map((month) => textOf("journal", month)));
    const journal = balances(months.join("\n"));
    const float = await runs["float show"](context, {});
    // Two of them have an unknown cost, and count at their price.
    expect(float).toMatchObject({ cost: 0, unknown_cost_at_price: 0, open: 485 + 512.35 + 480 + 2 * 500 });
    expect(journal[journalAccounts.float]).toBe(`NGN -${(float.open - 2 * 500).toFixed(2)}`);
    expect(journal[journalAccounts.unknownCost]).toBe("NGN -1000.00");
    const asked = { from: "2026-10-01", to: "2026-11-30", by: "account" };
    expect(marginReport([await runs["margin report"](context, asked)]).rows).toEqual([]);
  },
);

testWithHledger("once no order is open, journal, margin report and float agree over all months", async () => {
  for (const each of orders) await settleTransaction(context.ledger, each, { status: "success" }, deadlineIn(9_000));
  for (const accountId of await accountIdsOf(context.ledger))
    await advanceSums({ ...context.ledger, timeZone: context.timeZone }, accountId, deadlineIn(9_000));
  await runs["float fund"](context, { amount_kobo: 5_000_00, id: "WEMA-1", why: "weekly payment" });
  const asked = { from: "2026-10-01", to: "2026-11-30", by: "account" };
  const { total } = marginReport([await runs["margin report"](context, asked)]);
  const float = await runs["float show"](context, {});
  const months = await Promise.all([MONTH, "2026-11"].map((month) => textOf("journal", month)));
  const kobo = Object.entries(balances(months.join("\n"))).map(
    ([account, balance]) => [account, koboFromText(balance.replace("NGN ", "")) ?? Number.NaN] as const,
  );
  const sumOf = (name: string): number =>
    sum(kobo.filter(([account]) => account.startsWith(name)).map(([, each]) => each));
  // 500 NGN were given back by an adjustment.
  expect(-sumOf("income:") - sumOf(journalAccounts.cost)).toBe(
    nearestKobo(total.margin) + nearestKobo(total.unknown_price) - 500_00,
  );
  expect(5_000_00 + sumOf(journalAccounts.float)).toBe(
    nearestKobo(float.expected_balance ?? Number.NaN) + nearestKobo(float.unknown_cost_at_price),
  );
  expect(total.unknown_orders).toBe(2);
});

testWithHledger(
  "the files of a month stay as they are when its open orders end, and the month in which they end has the change of their costs",
  async () => {
    const [one] = accounts;
    nowMs = Date.parse("2026-12-10T12:00:00.000Z");
    await fund(one, "GTB-2", 1_000);
    const [charged, unknown, failed, longOpen] = [
      await order(one, 485_00),
      await order(one),
      await order(one, 480_00),
      await order(one, 470_00),
    ];
    nowMs = Date.parse("2027-01-03T12:00:00.000Z");
    const wait = (ms: number) => {
      nowMs += ms;
    };
    const filesOf = async (month: string) =>
      Promise.all((["csv", "jsonl", "journal"] as const).map((format) => textOf(format, month)));
    await closeMonth(context, "2026-12", wait);
    const december = await filesOf("2026-12");
    const settle = (of: Transaction, settlement: Settlement) =>
      settleTransaction(context.ledger, of, settlement, deadlineIn(9_000));
    const delivered = (cost_kobo: number): Settlement => ({
      status: "success",
      cost_kobo: koboSchema.parse(cost_kobo),
    });
    await settle(charged, delivered(481_50));
    nowMs += 1_000;
    await settle(unknown, delivered(490_00));
    await settle(failed, NOT_DELIVERED);
    expect(await filesOf("2026-12")).toEqual(december);

    nowMs = Date.parse("2027-02-03T12:00:00.000Z");
    await closeMonth(context, "2027-01", wait);
    const january = await filesOf("2027-01");
    await settle(longOpen, delivered(471_00));
    nowMs = Date.parse("2027-03-03T12:00:00.000Z");
    await closeMonth(context, "2027-02", wait);
    expect(await filesOf("2026-12")).toEqual(december);
    expect(await filesOf("2027-01")).toEqual(january);

    const [csv, jsonl, journal] = january;
    expect(csv?.split("\r\n").filter((row) => row.includes(",cost_change,"))).toEqual([
      expect.stringMatching(/,2027-01-03T13:\S+\+01:00,cost_change,DATA_T0+7,.*,0\.00,2980\.08,-3\.50$/),
      expect.stringMatching(/,cost_change,DATA_T0+8,.*,0\.00,2980\.08,490\.00$/),
    ]);
    expect(jsonl?.split("\n").filter((line) => line.includes('"cost_change"'))).toHaveLength(2);
    const months = [MONTH, "2026-11", "2026-12", "2027-01", "2027-02"];
    const before = balances(
      (await Promise.all(months.slice(0, 2).map((month) => textOf("journal", month)))).join("\n"),
    );
    const books = [...(await Promise.all(months.slice(0, 3).map((month) => textOf("journal", month)))), journal];
    const all = `${books.join("\n")}\n${await textOf("journal", "2027-02")}`;
    hledger(all, "check", "accounts", "commodities");
    const added = (name: string): number => {
      const koboOf = (of: Readonly<Record<string, string>>) => koboFromText((of[name] ?? "").replace("NGN ", "")) ?? 0;
      return koboOf(balances(all)) - koboOf(before);
    };
    // 481.50, 490 and 471; the failed order costs nothing.
    expect(added(journalAccounts.cost)).toBe(1_442_50);
    expect(added(journalAccounts.float)).toBe(-1_442_50);
    // The failed one is among them, until its refund is deducted.
    expect(added(journalAccounts.recovered)).toBe(-1_922_50);
    expect(added(journalAccounts.margin)).toBe(-77_50);
    expect(added(journalAccounts.unknownCost)).toBe(0);
    expect(added(journalAccounts.refunds)).toBe(500_00);
  },
);

test.for([
  ["refund of DATA_1", journalAccounts.refunds],
  ["delivered-DATA_1", journalAccounts.refunds],
  ["reversal of GTB-1", journalAccounts.bank],
  ["payout-GTB-2", journalAccounts.bank],
  ["case-1", journalAccounts.adjustments],
] as const)("an adjustment named %s is posted to %s", async ([id, posted]) => {
  async function* adjusted(pages: ExportedAccount["pages"]): AsyncGenerator<Lines> {
    for await (const page of pages)
      yield { ...page, lines: page.lines.map((line) => ({ ...line, kind: "adjustment", id })) };
  }
  async function* accountsOf(): AsyncGenerator<ExportedAccount> {
    for await (const { sums, pages } of exported(MONTH)) yield { sums, pages: adjusted(pages) };
  }
  const period = await runs["periods show"](context, { month: MONTH });
  const journal = (await Array.fromAsync(exportFormats.journal(period, accountsOf()))).join("");
  expect(journal).toContain(`(${id}) adjustment\n    ${posted}  NGN 5000.07\n`);
});

test("the CSV file has a row for each line, and no cell that a spreadsheet takes for a formula", async () => {
  const [heading, ...rows] = (await textOf("csv")).split("\r\n");
  expect(heading).toBe(periodCsvColumns.join(","));
  expect(rows).toHaveLength(13);
  expect(rows[1]).toMatch(
    /^acc_\w+,2026-10-05T12:00:01.002Z,2026-10-05T13:00:01.002\+01:00,data,DATA_T0+1,order-1,MTN,"'=MTN; 1GB \| ""data""",-500.00,4500.07,485.00$/,
  );
});

test("the JSON Lines have the period, each account's lines, and then its sums", async () => {
  const lines = (await textOf("jsonl"))
    .split("\n")
    .map((line) => z.looseObject({ type: z.string() }).parse(JSON.parse(line)));
  const [one, other] = accounts;
  expect(lines.map(({ type }) => type)).toEqual([
    ...["period", ...Array<string>(10).fill("line"), "account", "line", "line", "line", "account"],
  ]);
  expect(lines.filter(({ type }) => type === "account").map(({ account_id }) => account_id)).toEqual([one, other]);
});
