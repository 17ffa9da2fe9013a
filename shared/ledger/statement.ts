import { readItems } from "./batch-read.ts";
import { readTransactions } from "./find-transactions.ts";
import { entriesOwner, type LedgerEntry, ledgerEntrySchema } from "./ledger-entry.ts";
import { ownedKeys, type TimeRange } from "./owner-index.ts";
import type { Ledger } from "./transact.ts";
import { referenceOf, signedKobo, type Transaction, transactionOwner } from "./transaction.ts";

/** One thing that moved a wallet, with the balance that it left behind. Kobo, signed. */
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

/** What moved a wallet within a time, oldest first. It sums from the beginning, so that opening and closing need no other proof. */
export const readStatement = async (ledger: Ledger, accountId: string, { from, to }: TimeRange): Promise<Statement> => {
  const range = { from: "0000", to };
  const entries = await readItems(ledger, await ownedKeys(ledger, entriesOwner(accountId), range), ledgerEntrySchema);
  const transactions = await readTransactions(
    ledger,
    await ownedKeys(ledger, transactionOwner(accountId, "live"), range),
  );
  const movements = [...entries.map(entryLine), ...transactions.map(transactionLine)].sort((one, other) =>
    one.at < other.at ? -1 : 1,
  );
  let sumKobo = 0;
  const lines = movements.map((line) => {
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
