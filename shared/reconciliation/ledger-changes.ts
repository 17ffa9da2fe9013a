import * as z from "zod";
import { readItems } from "../ledger/batch-read.ts";
import { entriesOwner } from "../ledger/ledger-entry.ts";
import { type IndexKey, ownedKeyBatches, ownedKeys, type TimeRange } from "../ledger/owner-index.ts";
import type { Ledger } from "../ledger/transact.ts";
import { signedKobo, type Transaction, transactionOwner } from "../ledger/transaction.ts";

/** What one transaction or entry has done to its wallet so far. */
export type LedgerChange = {
  readonly pk: string;
  readonly at: string;
  /** Signed. */
  readonly kobo: number;
  /** By how much it raised the wallet's version: by one for each debit, refund or entry. */
  readonly changes: number;
  /** A refund may still follow. */
  readonly isOpen: boolean;
};

export const ledgerChangeOf = ({ pk, created_at, amount_kobo, status }: Transaction): LedgerChange => ({
  pk,
  at: created_at,
  kobo: signedKobo({ status, amount_kobo }),
  changes: status === "failed" ? 2 : 1,
  isOpen: status === "processing",
});

/** What a transaction has done since its debit. */
export const changeAfterDebit = (transaction: Transaction): LedgerChange => {
  const { kobo, changes, ...rest } = ledgerChangeOf(transaction);
  return { ...rest, kobo: kobo + transaction.amount_kobo, changes: changes - 1 };
};

export const totalOf = (movements: Iterable<LedgerChange>): { readonly kobo: number; readonly changes: number } => {
  const total = { kobo: 0, changes: 0 };
  for (const { kobo, changes } of movements) {
    total.kobo += kobo;
    total.changes += changes;
  }
  return total;
};

/** The keys of an account's live transactions, oldest first. */
export const transactionKeyBatches = (ledger: Ledger, accountId: string, range: TimeRange) =>
  ownedKeyBatches(ledger, transactionOwner(accountId, "live"), range);

export const transactionKeys = (ledger: Ledger, accountId: string, range: TimeRange): Promise<readonly IndexKey[]> =>
  ownedKeys(ledger, transactionOwner(accountId, "live"), range);

const entryItem = z.object({ pk: z.string(), amount_kobo: z.int(), created_at: z.iso.datetime() });

/** An account's fundings and adjustments. */
export const readEntryChanges = async (
  ledger: Ledger,
  accountId: string,
  range: TimeRange,
): Promise<readonly LedgerChange[]> => {
  const keys = await ownedKeys(ledger, entriesOwner(accountId), range);
  const entries = await readItems(ledger, keys, entryItem);
  return entries.map(({ pk, created_at, amount_kobo }) => ({
    pk,
    at: created_at,
    kobo: amount_kobo,
    changes: 1,
    isOpen: false,
  }));
};
