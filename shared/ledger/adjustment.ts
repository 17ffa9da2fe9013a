import type { AuditEntry } from "./audit.ts";
import { type EntryResult, recordEntry } from "./ledger-entry.ts";
import type { Ledger } from "./transact.ts";

/** A correction of a wallet by hand: kobo, signed. What is final stays as it is, and this stands beside it. */
export type Adjustment = {
  readonly accountId: string;
  readonly adjustmentId: string;
  readonly amount_kobo: number;
  readonly why: string;
};

/** Adjusts a wallet once per id, and never below zero. */
export const adjustWallet = (
  ledger: Ledger,
  { accountId, adjustmentId, amount_kobo, why }: Adjustment,
  act?: AuditEntry,
): Promise<EntryResult> =>
  recordEntry(ledger, { kind: "adjustment", account_id: accountId, entry_id: adjustmentId, amount_kobo, why }, act);
