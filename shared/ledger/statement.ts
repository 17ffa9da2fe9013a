import { setImmediate } from "node:timers/promises";
import * as z from "#zod";
import { isoTime } from "../platform/time.ts";
import { getItemBatches, keyBatches } from "./get-item.ts";
import type { Ledger } from "./ledger.ts";
import { type LedgerEntry, ledgerEntrySchema } from "./ledger-entry.ts";
import { lastPeriodBefore } from "./period.ts";
import {
  ALL_TIMES,
  type IndexKey,
  indexKeySchema,
  type ListedItems,
  queryList,
  queryListedItems,
  type TimeRange,
} from "./query-index.ts";
import { entriesList, refundsList, transactionList, transactionPkOfRefund } from "./schema.ts";
import { referenceOf, type Transaction, transactionSchema } from "./transaction.ts";

/**
 * One change of a wallet, with the balance after it. Kobo, signed. A line never changes, whatever happens later, except
 * that the phone number in a description is masked after the retention.
 */
export type StatementLine = {
  /** When it was booked: of a debit, when the order was placed. */
  readonly at: string;
  /** The type of a transaction stands for its debit. */
  readonly kind: LedgerEntry["kind"] | "refund" | Transaction["type"];
  /** The bank's reference, the adjustment's name, or the transaction's reference. */
  readonly id: string;
  readonly caller_reference: string | null;
  readonly network: string | null;
  readonly description: string;
  readonly effect_kobo: number;
  readonly balance_after_kobo: number;
};

type UnsummedLine = Omit<StatementLine, "balance_after_kobo">;

/** What a statement shows of an entry, as the index has it. */
const statedEntrySchema = z.pick(ledgerEntrySchema, {
  pk: true,
  kind: true,
  entry_id: true,
  amount_kobo: true,
  why: true,
  created_at: true,
});

const entryLine = ({
  created_at,
  kind,
  entry_id,
  why = "",
  amount_kobo,
}: z.infer<typeof statedEntrySchema>): UnsummedLine => ({
  at: created_at,
  kind,
  id: entry_id,
  caller_reference: null,
  network: null,
  description: why,
  effect_kobo: amount_kobo,
});

/** What a statement shows of a transaction, as the index has it. */
export const statedTransactionSchema = z.pick(transactionSchema, {
  pk: true,
  type: true,
  amount_kobo: true,
  description: true,
  network: true,
  caller_reference: true,
  debit: true,
  created_at: true,
});
type StatedTransaction = z.infer<typeof statedTransactionSchema>;

/** What a line has of its order. */
export const statedOrder = (transaction: StatedTransaction) => ({
  id: referenceOf({ ...transaction, mode: "live" }),
  caller_reference: transaction.caller_reference ?? null,
  network: transaction.network ?? null,
  description: transaction.description,
});

const debitLine = (transaction: StatedTransaction): UnsummedLine => ({
  ...statedOrder(transaction),
  at: transaction.created_at,
  kind: transaction.type,
  effect_kobo: -transaction.amount_kobo,
});

const refundLine = (at: string, transaction: StatedTransaction): UnsummedLine => ({
  ...statedOrder(transaction),
  at,
  kind: "refund",
  effect_kobo: transaction.amount_kobo,
});

type Ordered = Readonly<Record<"at" | "kind" | "id", string>>;

/** One order of lines, whatever the index has of one time: files and hashes are the same in each store. */
export const byTimeKindAndId = (one: Ordered, other: Ordered): number =>
  compare(one.at, other.at) || compare(one.kind, other.kind) || compare(one.id, other.id);

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** What a statement takes of a list: a line, or a refund, whose order has the rest of the line. */
type Listed = { readonly key: IndexKey } & ({ readonly line: UnsummedLine } | { readonly refundOf: string });

/** One page of a list, oldest first. Its `count` includes what `items` leaves out. */
type ReadList = (start: IndexKey | undefined, oldest: number) => Promise<ListedItems<Listed, IndexKey>>;

const readEntries =
  (ledger: Ledger, accountId: string, range: TimeRange): ReadList =>
  async (start, oldest) => {
    const list = entriesList(accountId);
    const page = await queryListedItems(ledger, list, range, start, oldest, statedEntrySchema);
    return { ...page, items: () => page.items().map((item) => ({ key: item, line: entryLine(item) })) };
  };

/** Transactions without a debit have changed nothing. */
const readDebits =
  (ledger: Ledger, accountId: string, range: TimeRange): ReadList =>
  async (start, oldest) => {
    const list = transactionList(accountId, "live");
    const page = await queryListedItems(ledger, list, range, start, oldest, statedTransactionSchema);
    const debited = () => page.items().filter(({ debit }) => debit === undefined);
    return { ...page, items: () => debited().map((item) => ({ key: item, line: debitLine(item) })) };
  };

const readRefunds =
  (ledger: Ledger, accountId: string, range: TimeRange): ReadList =>
  async (start, oldest) => {
    const { keys, next } = await queryList(ledger, refundsList(accountId), range, start, { oldest });
    const items = () => keys.map((key) => ({ key, refundOf: transactionPkOfRefund(key) }));
    return { count: keys.length, items, next };
  };

/** Where a page of a statement continues: behind the last item of each list that is summed up. */
export const statementPositionSchema = z.object({
  /** The balance point that it is summed up from. */
  after: z.string(),
  entry: z.optional(indexKeySchema),
  transaction: z.optional(indexKeySchema),
  refund: z.optional(indexKeySchema),
  balance_after_kobo: z.int(),
  /** The wallet's version after the last line: each line raised it by one. */
  version: z.int(),
});
export type StatementPosition = z.infer<typeof statementPositionSchema>;

export type StatementPage = {
  /** The balance before its first line, and after its last one. */
  readonly opening_kobo: number;
  readonly lines: readonly StatementLine[];
  readonly closing_kobo: number;
  /** The wallet's version after its last line. */
  readonly version: number;
  readonly next: StatementPosition | undefined;
};

/** Entries and refunds that are read at once: most lines are debits. */
const OTHERS_PER_READ = 100;

/** `itemsMax`: also those before the range, so that a page of a large wallet is there in time. */
type PageLimits = { readonly linesMax: number; readonly itemsMax: number };

/**
 * One page of the changes of a wallet within a time range, oldest first: balances are summed up from the last period
 * that was closed before the range, or from the wallet's first entry. Of the same millisecond, lines are by kind, then by
 * id: so a page has whole milliseconds, and more than its limits only if that is one.
 */
export const readStatementPage = async (
  ledger: Ledger,
  accountId: string,
  { from, to }: TimeRange,
  start: StatementPosition | undefined,
  limits: PageLimits,
): Promise<StatementPage> => {
  const point = start ?? (await balancePointBefore(ledger, accountId, from));
  const range = { from: point.after, to };
  const isLine = ({ key }: Listed): boolean => key.created_at >= from;
  const entries = unreadList(readEntries(ledger, accountId, range), start?.entry, OTHERS_PER_READ);
  // Of a page in the range no more is taken, and of one before it all.
  const isInRange = (start?.transaction?.created_at ?? point.after) >= from;
  const debitsPerRead = isInRange ? limits.linesMax : limits.itemsMax;
  const debits = unreadList(readDebits(ledger, accountId, range), start?.transaction, debitsPerRead);
  const refunds = unreadList(readRefunds(ledger, accountId, range), start?.refund, OTHERS_PER_READ);
  // Each item of a page in the range is a line, so nothing is asked for that it does not take.
  const itemsMax = isInRange ? Math.min(limits.linesMax, limits.itemsMax) : limits.itemsMax;
  const { taken, isComplete } = await takeOldest([entries, debits, refunds], isLine, { ...limits, itemsMax });
  const orders = await refundedOrders(ledger, taken);
  const booked = taken.flatMap(({ listed }) => lineOf(listed, orders) ?? []).toSorted(byTimeKindAndId);
  const lines: StatementLine[] = [];
  let { balance_after_kobo, version } = point;
  let opening_kobo = balance_after_kobo;
  for (const line of booked) {
    balance_after_kobo += line.effect_kobo;
    version += 1;
    if (line.at >= from) lines.push({ ...line, balance_after_kobo });
    else opening_kobo = balance_after_kobo;
  }
  const positionIn = (list: UnreadList, before: IndexKey | undefined): IndexKey | undefined => {
    const last = taken.findLast((each) => each.list === list)?.listed.key;
    return last === undefined ? before : { pk: last.pk, created_at: last.created_at };
  };
  const next = {
    entry: positionIn(entries, start?.entry),
    transaction: positionIn(debits, start?.transaction),
    refund: positionIn(refunds, start?.refund),
    after: point.after,
    balance_after_kobo,
    version,
  };
  return { opening_kobo, lines, closing_kobo: balance_after_kobo, version, next: isComplete ? undefined : next };
};

/** Where a statement begins to sum up: behind the last closed period whose lines are all before the range. */
const balancePointBefore = async (ledger: Ledger, accountId: string, from: string): Promise<StatementPosition> => {
  const period = from === ALL_TIMES.from ? undefined : await lastPeriodBefore(ledger, accountId, from);
  return period === undefined
    ? { after: ALL_TIMES.from, balance_after_kobo: 0, version: 0 }
    : positionAfter(period.to, { balance_after_kobo: period.closing_kobo, version: period.version });
};

/** Where a statement continues behind everything that was booked until a moment. */
export const positionAfter = (
  to: string,
  { balance_after_kobo, version }: Pick<StatementPosition, "balance_after_kobo" | "version">,
): StatementPosition => ({ after: isoTime(Date.parse(to) + 1), balance_after_kobo, version });

type UnreadList = ReturnType<typeof unreadList>;
type Taken = { readonly listed: Listed; readonly list: UnreadList };

const timeOf = ({ listed }: Taken): string => listed.key.created_at;

/** The oldest items of all lists. The last millisecond may go on behind the limits, so it is left to the next page. */
const takeOldest = async (
  lists: readonly UnreadList[],
  isLine: (listed: Listed) => boolean,
  { linesMax, itemsMax }: PageLimits,
): Promise<{ readonly taken: readonly Taken[]; readonly isComplete: boolean }> => {
  const taken: Taken[] = [];
  await Promise.all(lists.map((list) => list.read(itemsMax)));
  for (let lines = 0; ; ) {
    let oldest: Taken | undefined;
    for (const list of lists) {
      const listed = list.first() ?? (await list.read(Math.max(1, itemsMax - taken.length)));
      if (listed === undefined || (oldest !== undefined && listed.key.created_at >= timeOf(oldest))) continue;
      oldest = { listed, list };
    }
    if (oldest === undefined) return { taken, isComplete: true };
    const last = timeOf(oldest);
    oldest.list.take();
    taken.push(oldest);
    if (isLine(oldest.listed)) lines += 1;
    if (taken.length < itemsMax && lines < linesMax) continue;
    const whole = taken.filter((each) => timeOf(each) < last);
    if (whole.length > 0) return { taken: whole, isComplete: false };
  }
};

/** The items of one list behind a position, read as they are taken. The next page is preloaded. */
const unreadList = (read: ReadList, start: IndexKey | undefined, itemsPerRead: number) => {
  let readUntil = start;
  let isAllRead = false;
  let preloaded: ReturnType<ReadList> | undefined;
  let items: readonly Listed[] = [];
  let place = 0;
  return {
    /** The next item of those that were read. */
    first: (): Listed | undefined => items[place],
    /** Reads on, as many items as the page may still take; resolves with the first one. */
    read: async (itemsMax: number): Promise<Listed | undefined> => {
      while (place === items.length && !isAllRead) {
        const page = await (preloaded ?? read(readUntil, Math.min(itemsPerRead, itemsMax)));
        readUntil = page.next;
        isAllRead = page.next === undefined;
        const left = itemsMax - page.count;
        preloaded = isAllRead || left <= 0 ? undefined : read(readUntil, Math.min(itemsPerRead, left));
        // The call that needs the page throws its error.
        preloaded?.catch(() => {});
        // Its request is sent before this page is parsed.
        if (preloaded) await setImmediate();
        [items, place] = [page.items(), 0];
      }
      return items[place];
    },
    take: (): void => {
      place += 1;
    },
  };
};

type Orders = ReadonlyMap<string, StatedTransaction>;

/** Read in batches, once it is known which refunds the page has. */
const refundedOrders = async (ledger: Ledger, taken: readonly Taken[]): Promise<Orders> => {
  const keys = taken.flatMap(({ listed }) => ("refundOf" in listed ? [{ pk: listed.refundOf }] : []));
  const orders = new Map<string, StatedTransaction>();
  for await (const { items } of getItemBatches(ledger, keyBatches(keys), statedTransactionSchema))
    for (const item of items) orders.set(item.pk, item);
  return orders;
};

const lineOf = (listed: Listed, orders: Orders): UnsummedLine | undefined => {
  if ("line" in listed) return listed.line;
  const order = orders.get(listed.refundOf);
  return order && refundLine(listed.key.created_at, order);
};
