import * as z from "zod";
import { getItems } from "./get-item.ts";
import type { Ledger } from "./ledger.ts";
import { type LedgerEntry, ledgerEntrySchema } from "./ledger-entry.ts";
import { ALL_TIMES, type IndexKey, indexKeySchema, queryList, type TimeRange } from "./query-index.ts";
import { entriesList, transactionList } from "./schema.ts";
import { referenceOf, signedKobo, type Transaction, transactionSchema } from "./transaction.ts";

/** One entry or transaction, with the balance after it. Kobo, signed. */
export type StatementLine = {
  readonly at: string;
  readonly kind: "funding" | "adjustment" | Transaction["type"];
  /** The bank's reference, the adjustment's name, or the transaction's reference. */
  readonly id: string;
  readonly status: string;
  readonly description: string;
  /** A transaction that failed was debited and refunded: 0. */
  readonly effect_kobo: number;
  readonly balance_after_kobo: number;
};

type UnsummedLine = Omit<StatementLine, "balance_after_kobo">;

const entryLine = ({ created_at, kind, entry_id, why = "", amount_kobo }: LedgerEntry): UnsummedLine => ({
  at: created_at,
  kind,
  id: entry_id,
  status: "booked",
  description: why,
  effect_kobo: amount_kobo,
});

/** What a statement shows of a transaction. */
const statedTransactionSchema = transactionSchema.pick({
  pk: true,
  mode: true,
  type: true,
  status: true,
  amount_kobo: true,
  description: true,
  created_at: true,
});

const transactionLine = (transaction: z.infer<typeof statedTransactionSchema>): UnsummedLine => ({
  at: transaction.created_at,
  kind: transaction.type,
  id: referenceOf(transaction),
  status: transaction.status,
  description: transaction.description,
  effect_kobo: signedKobo(transaction),
});

/** Where a page of a statement continues: behind the last entry and the last transaction that are summed up. */
export const statementPositionSchema = z.object({
  entry: indexKeySchema.optional(),
  transaction: indexKeySchema.optional(),
  balance_after_kobo: z.int(),
});
export type StatementPosition = z.infer<typeof statementPositionSchema>;

export type StatementPage = {
  /** The balance before its first line, and after its last one. */
  readonly opening_kobo: number;
  readonly lines: readonly StatementLine[];
  readonly closing_kobo: number;
  readonly next: StatementPosition | undefined;
};

const KEYS_PER_READ = 500;

/** `itemsMax`: also those before the range, so that a page of a large wallet is there in time. */
type PageLimits = { readonly linesMax: number; readonly itemsMax: number };

/**
 * One page of a wallet's entries and transactions within a time range, oldest first: balances are summed up from the
 * wallet's first entry. An entry comes before a transaction of the same millisecond.
 */
export const readStatementPage = async (
  ledger: Ledger,
  accountId: string,
  { from, to }: TimeRange,
  start: StatementPosition | undefined,
  { linesMax, itemsMax }: PageLimits,
): Promise<StatementPage> => {
  const range = { from: ALL_TIMES.from, to };
  const entries = unsummedLines(ledger, entriesList(accountId), range, start?.entry, async (keys) =>
    (await getItems(ledger, keys, ledgerEntrySchema)).map((item) => ({ key: item, line: entryLine(item) })),
  );
  const transactions = unsummedLines(
    ledger,
    transactionList(accountId, "live"),
    range,
    start?.transaction,
    async (keys) =>
      (await getItems(ledger, keys, statedTransactionSchema)).map((item) => ({
        key: item,
        line: transactionLine(item),
      })),
  );
  const lines: StatementLine[] = [];
  let balance_after_kobo = start?.balance_after_kobo ?? 0;
  let opening_kobo = balance_after_kobo;
  for (let taken = 0; taken < itemsMax && lines.length < linesMax; taken += 1) {
    const [entry, transaction] = [await entries.first(), await transactions.first()];
    const isEntry = entry !== undefined && (transaction === undefined || entry.at <= transaction.at);
    const line = isEntry ? entry : transaction;
    if (line === undefined) return { opening_kobo, lines, closing_kobo: balance_after_kobo, next: undefined };
    (isEntry ? entries : transactions).take();
    balance_after_kobo += line.effect_kobo;
    if (line.at < from) opening_kobo = balance_after_kobo;
    else lines.push({ ...line, balance_after_kobo });
  }
  const next = { entry: entries.position(), transaction: transactions.position(), balance_after_kobo };
  return { opening_kobo, lines, closing_kobo: balance_after_kobo, next };
};

type KeyedLine = { readonly key: IndexKey; readonly line: UnsummedLine };

/** The lines of one list's items behind a position, read in pieces as they are taken. */
const unsummedLines = (
  ledger: Ledger,
  list: string,
  range: TimeRange,
  start: IndexKey | undefined,
  read: (keys: readonly IndexKey[]) => Promise<readonly KeyedLine[]>,
) => {
  let position = start;
  let readUntil = start;
  let isAllRead = false;
  let piece: readonly KeyedLine[] = [];
  let taken = 0;
  return {
    first: async (): Promise<UnsummedLine | undefined> => {
      while (taken === piece.length && !isAllRead) {
        const page = await queryList(ledger, list, range, readUntil, { oldest: KEYS_PER_READ });
        piece = await read(page.keys);
        taken = 0;
        readUntil = page.next;
        isAllRead = page.next === undefined;
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
