import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { GetCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { type Kobo, koboSchema } from "../platform/money.ts";
import { isoTime } from "../platform/time.ts";
import { accountIdsOf } from "./account-index.ts";
import { type AuditEntry, auditPut } from "./audit.ts";
import { readItems } from "./batch-read.ts";
import { readCheckpoint } from "./checkpoint.ts";
import { type Ledger, transactWithRetry } from "./transact.ts";
import { walletCredit, walletDebit } from "./wallet.ts";

/** The owner under which an account's fundings and adjustments stand in the index by time. */
export const entriesOwner = (accountId: string): string => `${accountId}#entries`;

/** A funding's or an adjustment's item: what came into the wallet beside its transactions, or left it. */
export const ledgerEntrySchema = z.object({
  pk: z.string(),
  owner: z.string(),
  account_id: z.string(),
  kind: z.enum(["funding", "adjustment"]),
  /** The bank's own reference, or whatever else makes a repeat harmless. */
  entry_id: z.string(),
  /** Signed. */
  amount_kobo: z.int(),
  why: z.string().optional(),
  created_at: z.iso.datetime(),
});
export type LedgerEntry = z.infer<typeof ledgerEntrySchema>;

export type EntryResult =
  | { readonly kind: "booked" }
  /**
   * An entry with this id exists already; nothing was written. A funding's id is the bank's: the entry may have another amount, and
   * may be another account's.
   */
  | { readonly kind: "booked_before"; readonly entry: LedgerEntry }
  /** The balance would have become negative. */
  | { readonly kind: "insufficient_balance" };

export type NewEntry = Pick<LedgerEntry, "kind" | "account_id" | "entry_id" | "amount_kobo" | "why">;

/**
 * A bank transfer is credited once in the whole ledger, so that a funding's key is the bank's reference alone; in upper case, because
 * two people may type it differently. An adjustment's id is a name within its account.
 */
const entryPk = ({ kind, account_id, entry_id }: NewEntry): string =>
  kind === "funding" ? `funding#${entry_id.toUpperCase()}` : accountEntryPk(kind, account_id, entry_id);

const accountEntryPk = (kind: LedgerEntry["kind"], accountId: string, entryId: string): string =>
  `${kind}#${accountId}#${entryId}`;

const readEntry = async ({ db, table }: Ledger, pk: string): Promise<LedgerEntry> => {
  const { Item } = await db.send(new GetCommand({ TableName: table, Key: { pk }, ConsistentRead: true }));
  return ledgerEntrySchema.parse(Item);
};

/**
 * Books an entry once per id: its item is put in the balance's own transaction, so that a repeat does nothing and says so. The
 * operator's act goes with it.
 */
export const recordEntry = async (ledger: Ledger, entry: NewEntry, act?: AuditEntry): Promise<EntryResult> => {
  const Item: LedgerEntry = {
    pk: entryPk(entry),
    owner: entriesOwner(entry.account_id),
    ...entry,
    created_at: await entryTime(ledger, entry.account_id),
  };
  const former = entry.kind === "funding" ? await findEarlierReleaseFunding(ledger, entry) : undefined;
  if (former !== undefined) return { kind: "booked_before", entry: former };
  const amount = koboSchema.parse(Math.abs(entry.amount_kobo));
  const move = entry.amount_kobo < 0 ? walletDebit : walletCredit;
  try {
    await transactWithRetry(ledger, [
      { Put: { TableName: ledger.table, Item, ConditionExpression: "attribute_not_exists(pk)" } },
      move(ledger, entry.account_id, amount),
      ...(act ? [auditPut(ledger.table, act)] : []),
    ]);
    return { kind: "booked" };
  } catch (error) {
    if (hasFailed(error, ENTRY)) return { kind: "booked_before", entry: await readEntry(ledger, Item.pk) };
    if (hasFailed(error, WALLET) && entry.amount_kobo < 0) return { kind: "insufficient_balance" };
    throw error;
  }
};

/**
 * The present; never a moment that the wallet's checkpoint has passed, because a proof would not see the entry any more. A clock that is
 * an hour slow would say such a moment.
 */
const entryTime = async (ledger: Ledger, accountId: string): Promise<string> => {
  const { up_to } = await readCheckpoint(ledger, accountId);
  return isoTime(Math.max(ledger.clock(), Date.parse(up_to) + 1));
};

/** Positions in the write above; the cancellation reasons come back in this order. */
const ENTRY = 0;
const WALLET = 1;

const hasFailed = (error: unknown, position: number): boolean =>
  error instanceof TransactionCanceledException &&
  error.CancellationReasons?.[position]?.Code === "ConditionalCheckFailed";

/**
 * The funding that an earlier release booked for this transfer: its key held the account too. No such item is made any more, so that
 * a strong read before the write is enough.
 */
const findEarlierReleaseFunding = async (
  ledger: Ledger,
  { account_id, entry_id }: NewEntry,
): Promise<LedgerEntry | undefined> => {
  const accountIds = new Set([account_id, ...(await accountIdsOf(ledger))]);
  const keys = [...accountIds].map((accountId) => ({ pk: accountEntryPk("funding", accountId, entry_id) }));
  const [found] = await readItems(ledger, keys, ledgerEntrySchema);
  return found;
};

/** Puts money into a wallet, once for each transfer, whichever account it was credited to. */
export const fundWallet = (
  ledger: Ledger,
  funding: { readonly accountId: string; readonly fundingId: string; readonly amountKobo: Kobo },
  act?: AuditEntry,
): Promise<EntryResult> =>
  recordEntry(
    ledger,
    {
      kind: "funding",
      account_id: funding.accountId,
      entry_id: funding.fundingId,
      amount_kobo: funding.amountKobo,
    },
    act,
  );
