import type * as z from "zod";
import { getItemBatches } from "./get-item.ts";
import type { Ledger } from "./ledger.ts";
import { type LedgerEntry, readEntries } from "./ledger-entry.ts";
import { ALL_TIMES, ownedKeyBatches, type TimeRange } from "./query-index.ts";
import { transactionOwner } from "./schema.ts";
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
  readonly sum_kobo: number;
};

export type Statement = {
  readonly opening_kobo: number;
  readonly lines: readonly StatementLine[];
  readonly closing_kobo: number;
};

/** A wallet's entries and transactions within a time range, oldest first, in batches as they are read. */
export async function* statementLines(
  ledger: Ledger,
  accountId: string,
  { from, to }: TimeRange,
): AsyncGenerator<readonly StatementLine[], void, void> {
  for await (const lines of linesUntil(ledger, accountId, to)) yield lines.filter(({ at }) => at >= from);
}

export const readStatement = async (ledger: Ledger, accountId: string, { from, to }: TimeRange): Promise<Statement> => {
  const lines: StatementLine[] = [];
  let opening_kobo = 0;
  for await (const batch of linesUntil(ledger, accountId, to)) {
    for (const line of batch) {
      if (line.at < from) opening_kobo = line.sum_kobo;
      else lines.push(line);
    }
  }
  return { opening_kobo, lines, closing_kobo: lines.at(-1)?.sum_kobo ?? opening_kobo };
};

/**
 * Everything until a moment: balances are summed up from the wallet's first entry. An entry comes before a transaction
 * of the same millisecond.
 */
async function* linesUntil(
  ledger: Ledger,
  accountId: string,
  to: string,
): AsyncGenerator<readonly StatementLine[], void, void> {
  const range = { from: ALL_TIMES.from, to };
  let entries = (await readEntries(ledger, accountId, range)).map(entryLine);
  let sum_kobo = 0;
  const summed = (line: UnsummedLine): StatementLine => {
    sum_kobo += line.effect_kobo;
    return { ...line, sum_kobo };
  };
  const keys = ownedKeyBatches(ledger, transactionOwner(accountId, "live"), range);
  for await (const { items } of getItemBatches(ledger, keys, statedTransactionSchema)) {
    const transactions = items.map(transactionLine);
    const last = transactions.at(-1)?.at ?? "";
    const due = entries.filter(({ at }) => at <= last);
    entries = entries.slice(due.length);
    yield [...due, ...transactions].sort(byTime).map(summed);
  }
  yield entries.map(summed);
}

type UnsummedLine = Omit<StatementLine, "sum_kobo">;

const byTime = ({ at: one }: UnsummedLine, { at: other }: UnsummedLine): number =>
  one === other ? 0 : one < other ? -1 : 1;

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
