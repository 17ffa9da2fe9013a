import * as z from "#zod";
import { projectionOf } from "../../../shared/ledger/get-item.ts";
import { ledgerEntrySchema } from "../../../shared/ledger/ledger-entry.ts";
import { itemKindOf } from "../../../shared/ledger/schema.ts";
import { transactionSchema } from "../../../shared/ledger/transaction.ts";
import { type WalletChange, walletChangeOf } from "../../../shared/reconciliation/wallet-changes.ts";
import type { Item } from "../table-scan.ts";

/** A change of an account's balance. */
export type BalanceChange = WalletChange & {
  readonly accountId: string;
  /** Its number in the account's queue, if it is that of an order which waits there. */
  readonly queuedNumber?: number;
};

const transactionFields = z.pick(transactionSchema, {
  account_id: true,
  status: true,
  amount_kobo: true,
  created_at: true,
  debit: true,
  queued: true,
});
const entryFields = z.pick(ledgerEntrySchema, { account_id: true, amount_kobo: true, created_at: true });

/** The attributes that `balanceChangeOf` reads. */
export const balanceChangeProjection = projectionOf(["pk", "mode", ...Object.keys(transactionFields.shape)]);

/** How an item changes its account's balance; undefined if it does not. */
export const balanceChangeOf = (item: Item): BalanceChange | undefined => {
  const kind = itemKindOf(item.pk);
  if (kind === "funding" || kind === "adjustment") {
    const { account_id, amount_kobo, created_at } = entryFields.parse(item);
    return { pk: item.pk, accountId: account_id, at: created_at, kobo: amount_kobo, versions: 1, isOpen: false };
  }
  if (kind !== "transaction" || item.mode !== "live") return undefined;
  const { account_id, queued, ...amount } = transactionFields.parse(item);
  return {
    accountId: account_id,
    ...walletChangeOf({ ...amount, pk: item.pk }),
    ...(queued?.number !== undefined && { queuedNumber: queued.number }),
  };
};
