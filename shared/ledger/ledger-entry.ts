import * as z from "#zod";
import { type Kobo, koboSchema } from "../contract/values/money.ts";
import { hasConditionFailed } from "../platform/aws/errors.ts";
import { isoTime } from "../platform/time.ts";
import type { AuditPut } from "./audit.ts";
import { readCheckpoint } from "./checkpoint.ts";
import { getItem, getItems } from "./get-item.ts";
import type { Ledger } from "./ledger.ts";
import { listKeys, type TimeRange } from "./query-index.ts";
import { adjustmentPk, entriesList, fundingPk } from "./schema.ts";
import { operatorTransact } from "./transact.ts";
import { closedError, walletAdjustment, walletCredit } from "./wallet.ts";
import { bookingTime, isSealedAt } from "./wallet-seal.ts";

/** A funding or an adjustment: a credit or debit of the wallet that is not a transaction. */
export const ledgerEntrySchema = z.object({
  pk: z.string(),
  list_key: z.string(),
  account_id: z.string(),
  kind: z.enum(["funding", "adjustment"]),
  /** The bank's reference, or the name that the operator gave to an adjustment: makes a repeated request harmless. */
  entry_id: z.string(),
  /** Signed. */
  amount_kobo: z.int(),
  why: z.optional(z.string()),
  created_at: z.iso.datetime(),
});
export type LedgerEntry = z.infer<typeof ledgerEntrySchema>;

export type EntryResult =
  | { readonly kind: "recorded" }
  /**
   * An entry with this id exists; nothing was written. A funding's id is the bank's: the existing entry may have
   * another amount, and may be another account's.
   */
  | { readonly kind: "already_recorded"; readonly entry: LedgerEntry }
  /** The balance would have become negative. */
  | { readonly kind: "insufficient_balance" };

export type NewEntry = Pick<LedgerEntry, "kind" | "account_id" | "entry_id" | "amount_kobo" | "why">;

const entryPk = ({ kind, account_id, entry_id }: NewEntry): string =>
  kind === "funding" ? fundingPk(entry_id) : adjustmentPk(account_id, entry_id);

/** Puts the entry in the balance's own transaction of writes, once per id, together with the operator's audit entry. */
export const recordEntry = async (ledger: Ledger, entry: NewEntry, audit?: AuditPut): Promise<EntryResult> =>
  recordEntryAt(ledger, entry, await entryTime(ledger, entry.account_id), audit);

const recordEntryAt = async (
  ledger: Ledger,
  entry: NewEntry,
  bookedAt: string,
  audit: AuditPut | undefined,
): Promise<EntryResult> => {
  const Item: LedgerEntry = {
    pk: entryPk(entry),
    list_key: entriesList(entry.account_id),
    ...entry,
    created_at: bookedAt,
  };
  const amount = koboSchema.parse(Math.abs(entry.amount_kobo));
  const isDebit = entry.amount_kobo < 0;
  const walletWrite = isDebit ? walletAdjustment : walletCredit;
  const result = await operatorTransact(ledger, [
    { Put: { TableName: ledger.table, Item, ConditionExpression: "attribute_not_exists(pk)" } },
    walletWrite(ledger, entry.account_id, { amount, bookedAt }),
    ...(audit ? [audit] : []),
  ]);
  if (result.kind === "written") return { kind: "recorded" };
  const { error, isCertain, wallet } = result;
  const existing = hasConditionFailed(error, ENTRY_POSITION)
    ? await getItem(ledger, Item.pk, ledgerEntrySchema)
    : undefined;
  if (existing !== undefined) return { kind: "already_recorded", entry: existing };
  if (isSealedAt(wallet, bookedAt)) {
    return recordEntryAt(ledger, entry, bookingTime(ledger, wallet.sealed_to), audit);
  }
  // A copy without an answer may still land, once the wallet is funded or reopened.
  if (!isCertain || wallet === undefined) throw error;
  if (wallet.closed) throw closedError(entry.account_id);
  if (isDebit) return { kind: "insufficient_balance" };
  throw error;
};

/**
 * The current time, but always after the wallet's checkpoint: no later reconciliation would read an entry that a slow
 * clock had dated before it.
 */
const entryTime = async (ledger: Ledger, accountId: string): Promise<string> => {
  const { up_to } = await readCheckpoint(ledger, accountId);
  return isoTime(Math.max(ledger.clock(), Date.parse(up_to) + 1));
};

/** The position in the write above; the cancellation reasons have this order. */
const ENTRY_POSITION = 0;

/** The funding with this reference of the bank; undefined if there is none. */
export const readFunding = (ledger: Ledger, fundingId: string): Promise<LedgerEntry | undefined> =>
  getItem(ledger, fundingPk(fundingId), ledgerEntrySchema);

export const readAdjustment = (ledger: Ledger, accountId: string, name: string): Promise<LedgerEntry | undefined> =>
  getItem(ledger, adjustmentPk(accountId, name), ledgerEntrySchema);

/** Credits a bank transfer. A transfer is credited once, whatever the account. */
export const fundWallet = (
  ledger: Ledger,
  funding: { readonly accountId: string; readonly fundingId: string; readonly amountKobo: Kobo },
  audit?: AuditPut,
): Promise<EntryResult> => {
  const { accountId, fundingId, amountKobo } = funding;
  const entry = { account_id: accountId, entry_id: fundingId, amount_kobo: amountKobo };
  return recordEntry(ledger, { kind: "funding", ...entry }, audit);
};

/**
 * Corrects a wallet by a signed amount, once per id within the account, and never below zero. No transaction's status
 * changes.
 */
export const adjustWallet = (
  ledger: Ledger,
  adjustment: {
    readonly accountId: string;
    readonly adjustmentId: string;
    readonly amount_kobo: number;
    readonly why: string;
  },
  audit?: AuditPut,
): Promise<EntryResult> => {
  const { accountId, adjustmentId, amount_kobo, why } = adjustment;
  return recordEntry(
    ledger,
    { kind: "adjustment", account_id: accountId, entry_id: adjustmentId, amount_kobo, why },
    audit,
  );
};

const entryAmountSchema = z.pick(ledgerEntrySchema, { pk: true, amount_kobo: true, created_at: true });

/**
 * What a balance needs of the entries, and nothing else: another release may have stored their other fields otherwise.
 */
export const readEntryAmounts = async (
  ledger: Ledger,
  accountId: string,
  range: TimeRange,
): Promise<readonly z.infer<typeof entryAmountSchema>[]> =>
  getItems(ledger, await listKeys(ledger, entriesList(accountId), range), entryAmountSchema);
