import * as z from "zod";
import { type Kobo, koboSchema } from "../platform/money.ts";
import { isoTime } from "../platform/time.ts";
import { getItem } from "./get-item.ts";
import type { Ledger } from "./ledger.ts";
import { walletPk } from "./schema.ts";

/**
 * An account's wallet. `version` counts the changes of the balance, so a reconciliation knows whether it has found them
 * all.
 */
export const walletSchema = z.object({
  pk: z.string(),
  account_id: z.string(),
  balance_kobo: koboSchema,
  version: z.int().min(0),
  low_balance_threshold_kobo: koboSchema.optional(),
  updated_at: z.iso.datetime(),
});
export type Wallet = z.infer<typeof walletSchema>;

/** An empty wallet; it is created together with its account. */
export const emptyWallet = (accountId: string, nowMs: number): Wallet => ({
  pk: walletPk(accountId),
  account_id: accountId,
  balance_kobo: koboSchema.parse(0),
  version: 0,
  updated_at: isoTime(nowMs),
});

/** The wallet, read strongly: a caller who just bought sees the new balance. Throws if the account has none. */
export const readWallet = async (ledger: Ledger, accountId: string): Promise<Wallet> => {
  const wallet = await getItem(ledger, walletPk(accountId), walletSchema);
  if (wallet === undefined) throw new Error("The account has no wallet");
  return wallet;
};

const balanceUpdate = (
  { table, clock }: Ledger,
  accountId: string,
  sign: "+" | "-",
  amount: Kobo,
  condition: string,
) => ({
  Update: {
    TableName: table,
    Key: { pk: walletPk(accountId) },
    UpdateExpression: `SET balance_kobo = balance_kobo ${sign} :amount, version = version + :one, updated_at = :now`,
    ConditionExpression: condition,
    ExpressionAttributeValues: { ":amount": amount, ":one": 1, ":now": isoTime(clock()) },
  },
});

/** Takes the amount from the wallet if the balance is sufficient: one part of a transaction of writes. */
export const walletDebit = (ledger: Ledger, accountId: string, amount: Kobo) =>
  balanceUpdate(ledger, accountId, "-", amount, "balance_kobo >= :amount");

/** Adds the amount to the wallet: one part of a transaction of writes. */
export const walletCredit = (ledger: Ledger, accountId: string, amount: Kobo) =>
  balanceUpdate(ledger, accountId, "+", amount, "attribute_exists(pk)");
