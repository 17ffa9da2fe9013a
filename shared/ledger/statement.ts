import { readTransactions } from "./find-transactions.ts";
import type { Ledger } from "./ledger.ts";
import { type LedgerEntry, readEntries } from "./ledger-entry.ts";
import { ownedKeys, type TimeRange } from "./query-index.ts";
import { transactionOwner } from "./schema.ts";
import { referenceOf, signedKobo, type Transaction } from "./transaction.ts";

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

/**
 * A wallet's entries and transactions within a time range, oldest first. Balances are summed up from the wallet's first
 * entry.
 */
export const readStatement = async (ledger: Ledger, accountId: string, { from, to }: TimeRange): Promise<Statement> => {
  const range = { from: "0000", to };
  const entries = await readEntries(ledger, accountId, range);
  const keys = await ownedKeys(ledger, transactionOwner(accountId, "live"), range);
  const transactions = await readTransactions(ledger, keys);
  const unsummed = [...entries.map(entryLine), ...transactions.map(transactionLine)].sort((one, other) =>
    one.at < other.at ? -1 : 1,
  );
  let sumKobo = 0;
  const lines = unsummed.map((line) => {
    sumKobo += line.effect_kobo;
    return { ...line, sum_kobo: sumKobo };
  });
  const before = lines.findLast(({ at }) => at < from);
  return { opening_kobo: before?.sum_kobo ?? 0, lines: lines.filter(({ at }) => at >= from), closing_kobo: sumKobo };
};

type UnsummedLine = Omit<StatementLine, "sum_kobo">;

const entryLine = ({ created_at, kind, entry_id, why = "", amount_kobo }: LedgerEntry): UnsummedLine => ({
  at: created_at,
  kind,
  id: entry_id,
  status: "booked",
  description: why,
  effect_kobo: amount_kobo,
});

const transactionLine = (transaction: Transaction): UnsummedLine => ({
  at: transaction.created_at,
  kind: transaction.type,
  id: referenceOf(transaction),
  status: transaction.status,
  description: transaction.description,
  effect_kobo: signedKobo(transaction),
});
