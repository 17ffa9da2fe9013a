import * as z from "zod";
import { isoTime } from "../platform/time.ts";
import { BATCH_KEYS_MAX, getItems } from "./get-item.ts";
import type { Ledger } from "./ledger.ts";
import { type LedgerEntry, ledgerEntrySchema } from "./ledger-entry.ts";
import { lastPeriodBefore } from "./period.ts";
import {
  ALL_TIMES,
  type IndexKey,
  indexKeySchema,
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
const statedEntrySchema = ledgerEntrySchema.pick({
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
const statedTransactionSchema = transactionSchema.pick({
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

const transactionFields = (transaction: StatedTransaction) => ({
  id: referenceOf({ ...transaction, mode: "live" }),
  caller_reference: transaction.caller_reference ?? null,
  network: transaction.network ?? null,
  description: transaction.description,
});

const debitLine = (transaction: StatedTransaction): UnsummedLine => ({
  ...transactionFields(transaction),
  at: transaction.created_at,
  kind: transaction.type,
  effect_kobo: -transaction.amount_kobo,
});

const refundLine = (at: string, transaction: StatedTransaction): UnsummedLine => ({
  ...transactionFields(transaction),
  at,
  kind: "refund",
  effect_kobo: transaction.amount_kobo,
});

/** One page of a list's lines, oldest first. */
type ReadLines = (start: IndexKey | undefined) => Promise<{
  readonly lines: readonly KeyedLine[];
  readonly next: IndexKey | undefined;
}>;

const readEntryLines =
  (ledger: Ledger, accountId: string, range: TimeRange): ReadLines =>
  async (start) => {
    const list = entriesList(accountId);
    const { items, next } = await queryListedItems(ledger, list, range, start, LINES_PER_READ, statedEntrySchema);
    return { lines: items.map((item) => ({ key: item, line: entryLine(item) })), next };
  };

/** Transactions without a debit have changed nothing. */
const readDebitLines =
  (ledger: Ledger, accountId: string, range: TimeRange): ReadLines =>
  async (start) => {
    const list = transactionList(accountId, "live");
    const page = await queryListedItems(ledger, list, range, start, LINES_PER_READ, statedTransactionSchema);
    const debited = page.items.filter(({ debit }) => debit === undefined);
    return { lines: debited.map((item) => ({ key: item, line: debitLine(item) })), next: page.next };
  };

/** Each reads its order too, and what a page does not take is read again by the next one: so one batch at a time. */
const readRefundLines =
  (ledger: Ledger, accountId: string, range: TimeRange): ReadLines =>
  async (start) => {
    const { keys, next } = await queryList(ledger, refundsList(accountId), range, start, { oldest: BATCH_KEYS_MAX });
    const refunds = new Map(keys.map((key) => [transactionPkOfRefund(key), key]));
    const transactionKeys = [...refunds.keys()].map((pk) => ({ pk }));
    const lines = (await getItems(ledger, transactionKeys, statedTransactionSchema)).flatMap((transaction) => {
      const key = refunds.get(transaction.pk);
      return key === undefined ? [] : [{ key, line: refundLine(key.created_at, transaction) }];
    });
    return { lines, next };
  };

/** Where a page of a statement continues: behind the last item of each list that is summed up. */
export const statementPositionSchema = z.object({
  /** The balance point that it is summed up from. */
  after: z.string(),
  entry: indexKeySchema.optional(),
  transaction: indexKeySchema.optional(),
  refund: indexKeySchema.optional(),
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

/** An item of the index has some 300 bytes, and DynamoDB returns 1 MB at once. */
const LINES_PER_READ = 1_000;

/** `itemsMax`: also those before the range, so that a page of a large wallet is there in time. */
type PageLimits = { readonly linesMax: number; readonly itemsMax: number };

/**
 * One page of the changes of a wallet within a time range, oldest first: balances are summed up from the last period
 * that was closed before the range, or from the wallet's first entry. Of the same millisecond, entries come first, then
 * debits, then refunds.
 */
export const readStatementPage = async (
  ledger: Ledger,
  accountId: string,
  { from, to }: TimeRange,
  start: StatementPosition | undefined,
  { linesMax, itemsMax }: PageLimits,
): Promise<StatementPage> => {
  const point = start ?? (await balancePointBefore(ledger, accountId, from));
  const range = { from: point.after, to };
  const entries = unsummedLines(readEntryLines(ledger, accountId, range), start?.entry);
  const transactions = unsummedLines(readDebitLines(ledger, accountId, range), start?.transaction);
  const refunds = unsummedLines(readRefundLines(ledger, accountId, range), start?.refund);
  const lines: StatementLine[] = [];
  let { balance_after_kobo, version } = point;
  let opening_kobo = balance_after_kobo;
  for (let taken = 0; taken < itemsMax && lines.length < linesMax; taken += 1) {
    const oldest = await oldestOf([entries, transactions, refunds]);
    if (oldest === undefined)
      return { opening_kobo, lines, closing_kobo: balance_after_kobo, version, next: undefined };
    const { list, line } = oldest;
    list.take();
    balance_after_kobo += line.effect_kobo;
    version += 1;
    if (line.at < from) opening_kobo = balance_after_kobo;
    else lines.push({ ...line, balance_after_kobo });
  }
  const next = {
    entry: entries.position(),
    transaction: transactions.position(),
    refund: refunds.position(),
    after: point.after,
    balance_after_kobo,
    version,
  };
  return { opening_kobo, lines, closing_kobo: balance_after_kobo, version, next };
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

/** The list whose next line is the oldest: of the same time, the first of these lists. */
const oldestOf = async <List extends Pick<ReturnType<typeof unsummedLines>, "first">>(lists: readonly List[]) => {
  let oldest: { readonly list: List; readonly line: UnsummedLine } | undefined;
  for (const list of lists) {
    const line = await list.first();
    if (line !== undefined && (oldest === undefined || line.at < oldest.line.at)) oldest = { list, line };
  }
  return oldest;
};

type KeyedLine = { readonly key: IndexKey; readonly line: UnsummedLine };

/** The lines of one list behind a position, read in pieces as they are taken. */
const unsummedLines = (read: ReadLines, start: IndexKey | undefined) => {
  let position = start;
  let readUntil = start;
  let isAllRead = false;
  let piece: readonly KeyedLine[] = [];
  let taken = 0;
  return {
    first: async (): Promise<UnsummedLine | undefined> => {
      while (taken === piece.length && !isAllRead) {
        const { lines, next } = await read(readUntil);
        piece = lines;
        taken = 0;
        readUntil = next;
        isAllRead = next === undefined;
      }
      return piece[taken]?.line;
    },
    take: (): void => {
      const key = piece[taken]?.key;
      if (key !== undefined) position = { pk: key.pk, created_at: key.created_at };
      taken += 1;
    },
    position: () => position,
  };
};
