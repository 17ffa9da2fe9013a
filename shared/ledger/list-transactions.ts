import { PAGE_TRANSACTIONS_MAX } from "../contract/limits.ts";
import type { TransactionQuery } from "../contract/transaction-query.ts";
import { dayBounds } from "../contract/values/time-zone.ts";
import { isoTime } from "../platform/time.ts";
import { type AccountMode, readTransactions } from "./find-transactions.ts";
import { BATCH_KEYS_MAX } from "./get-item.ts";
import type { Ledger } from "./ledger.ts";
import { ALL_TIMES, type IndexKey, queryList, type TimeRange } from "./query-index.ts";
import { transactionList } from "./schema.ts";
import type { Transaction } from "./transaction.ts";

/** Keys read for one page, so a filter that fits little does not read a whole ledger in one request. */
const KEYS_PER_REQUEST_MAX = 500;

/** The ledger sorts times as texts, and a day at either end of the years 0 to 9999 may begin or end outside them in UTC. */
export const withinYears = (time: string): string =>
  time.startsWith("-") ? "0000-01-01T00:00:00.000Z" : time.startsWith("+") ? ALL_TIMES.to : time;

/** The range of a list. A date alone means that whole day in the zone. Undefined if `to` is before `from`. */
export const timeRange = (
  { from, to }: Pick<TransactionQuery, "from" | "to">,
  timeZone = "UTC",
): TimeRange | undefined => {
  const rangeOf = (moment: string): TimeRange => {
    if (moment.length > "2026-11-21".length) {
      const at = isoTime(Date.parse(moment));
      return { from: at, to: at };
    }
    const { from, to } = dayBounds(moment, timeZone);
    return { from: withinYears(from), to: withinYears(isoTime(Date.parse(to) - 1)) };
  };
  const range = {
    from: from === undefined ? ALL_TIMES.from : rangeOf(from).from,
    to: to === undefined ? ALL_TIMES.to : rangeOf(to).to,
  };
  return range.from <= range.to ? range : undefined;
};

export type TransactionList = { readonly transactions: readonly Transaction[]; readonly next: IndexKey | undefined };

/**
 * One page, newest first. A page may be short or empty although `next` is set: the filters are applied after the index
 * is read. Only the first read is as small as the page, so that a small page does not take many calls to fill.
 */
export const listTransactions = async (
  ledger: Ledger,
  { accountId, mode }: AccountMode,
  filter: Pick<TransactionQuery, "status" | "type">,
  range: TimeRange,
  start: IndexKey | undefined,
  pageMax: number = PAGE_TRANSACTIONS_MAX,
): Promise<TransactionList> => {
  const list = transactionList(accountId, mode);
  const transactions: Transaction[] = [];
  let from = start;
  let left = KEYS_PER_REQUEST_MAX;
  for (let size = pageMax; left > 0; size = BATCH_KEYS_MAX) {
    const newest = Math.min(size, left);
    const page = await queryList(ledger, list, range, from, { newest });
    left -= newest;
    for (const transaction of await readTransactions(ledger, page.keys)) {
      if (filter.status !== undefined && transaction.status !== filter.status) continue;
      if (filter.type !== undefined && transaction.type !== filter.type) continue;
      transactions.push(transaction);
      // The page is full: the next one starts behind this transaction.
      if (transactions.length === pageMax) return { transactions, next: transaction };
    }
    from = page.next;
    if (from === undefined) break;
  }
  return { transactions, next: from };
};
