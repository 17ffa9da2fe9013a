import { beforeAll, expect, test } from "vitest";
import { listTransactions } from "../../../../shared/ledger/list-transactions.ts";
import { ALL_TIMES, type IndexKey } from "../../../../shared/ledger/query-index.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { faultyLedgerForTests } from "../../../builders/ledger/faulty-ledger.ts";
import { putTransactions } from "../../../builders/ledger/put-transactions.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

/** Goal: pages have every transaction that fits once, and no page takes more calls than a few. */
const COUNT = 1_230;
const owner = { accountId: "acc_listed_01", mode: "live" } as const;
const ledger = await faultyLedgerForTests();
let newestFirst: readonly Transaction[];
/** Those of type airtime. */
let rare: readonly Transaction[];
beforeAll(async () => {
  const put = await putTransactions(ledger, owner.accountId, COUNT, (index) => isoTime(NOON_MS + index));
  newestFirst = put.toReversed();
  rare = newestFirst.filter((_, index) => [0, 3, 99, 100, 101, 499, 500, 501, 777, COUNT - 1].includes(index));
  for (const transaction of rare) {
    const Item = { ...transaction, type: "airtime" };
    await ledger.db.put({ TableName: ledger.table, Item });
  }
});

type Filter = Parameters<typeof listTransactions>[2];

/** All pages, with the calls of the one that took the most. */
const pagesOf = async (filter: Filter, pageMax: number) => {
  const pages: (readonly Transaction[])[] = [];
  let most: readonly string[] = [];
  let start: IndexKey | undefined;
  do {
    ledger.proxy.calls.length = 0;
    const { transactions, next } = await listTransactions(ledger, owner, filter, ALL_TIMES, start, pageMax);
    const calls = ledger.proxy.calls.map(({ operation }) => operation);
    if (calls.length > most.length) most = calls;
    pages.push(transactions);
    start = next;
  } while (start !== undefined);
  return { pages, most };
};

test.each([1, 500])(
  "a filter that fits nothing takes at most 12 calls for a page of %i, and 3 pages",
  async (pageMax) => {
    const { pages, most } = await pagesOf({ status: "failed" }, pageMax);
    expect(pages).toEqual([[], [], []]);
    expect(most.length).toBeLessThanOrEqual(12);
  },
);

test("a page without a filter reads no more than it has", async () => {
  ledger.proxy.calls.length = 0;
  const { transactions } = await listTransactions(ledger, owner, {}, ALL_TIMES, undefined, 1);
  expect(transactions.map(({ pk }) => pk)).toEqual(newestFirst.slice(0, 1).map(({ pk }) => pk));
  expect(ledger.proxy.calls.map(({ operation }) => operation)).toEqual(["Query", "BatchGetItem"]);
});

test.each([1, 7, 200])("pages of %i have every transaction that fits once, newest first", async (pageMax) => {
  const { pages, most } = await pagesOf({ type: "airtime" }, pageMax);
  expect(pages.flat().map(({ pk }) => pk)).toEqual(rare.map(({ pk }) => pk));
  expect(pages.every((page) => page.length <= pageMax)).toBe(true);
  expect(most.length).toBeLessThanOrEqual(12);
});
