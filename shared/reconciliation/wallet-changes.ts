import * as z from "#zod";
import type { Ledger } from "../ledger/ledger.ts";
import { readEntryAmounts } from "../ledger/ledger-entry.ts";
import type { TimeRange } from "../ledger/query-index.ts";
import { signedKobo, type Transaction, transactionSchema } from "../ledger/transaction.ts";

/** What one transaction or entry has changed in its wallet so far. */
export type WalletChange = {
  readonly pk: string;
  readonly at: string;
  /** Signed. */
  readonly kobo: number;
  /** By how much it raised the wallet's version: by one for each debit, refund or entry. */
  readonly versions: number;
  /** A refund may still follow. */
  readonly isOpen: boolean;
};

/** What a balance needs of a transaction. */
export const transactionAmountSchema = z.pick(transactionSchema, {
  pk: true,
  created_at: true,
  amount_kobo: true,
  status: true,
  debit: true,
});
type TransactionAmount = Pick<Transaction, keyof typeof transactionAmountSchema.shape>;

export const walletChangeOf = ({ pk, created_at, amount_kobo, status, debit }: TransactionAmount): WalletChange => ({
  pk,
  at: created_at,
  kobo: signedKobo({ status, amount_kobo }),
  versions: debit !== undefined ? 0 : status === "failed" ? 2 : 1,
  isOpen: status === "processing",
});

/** What a transaction has changed since its debit. */
export const changeAfterDebit = (transaction: TransactionAmount): WalletChange => {
  const { kobo, versions, ...rest } = walletChangeOf(transaction);
  return { ...rest, kobo: kobo + transaction.amount_kobo, versions: versions - 1 };
};

export const totalOf = (changes: Iterable<WalletChange>): { readonly kobo: number; readonly versions: number } => {
  const total = { kobo: 0, versions: 0 };
  for (const { kobo, versions } of changes) {
    total.kobo += kobo;
    total.versions += versions;
  }
  return total;
};

/** The changes by an account's fundings and adjustments. */
export const readEntryChanges = async (
  ledger: Ledger,
  accountId: string,
  range: TimeRange,
): Promise<readonly WalletChange[]> =>
  (await readEntryAmounts(ledger, accountId, range)).map(({ pk, created_at, amount_kobo }) => ({
    pk,
    at: created_at,
    kobo: amount_kobo,
    versions: 1,
    isOpen: false,
  }));
