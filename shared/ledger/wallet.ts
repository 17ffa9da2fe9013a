import { GetCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { type Kobo, koboSchema } from "../platform/money.ts";
import { isoTime } from "../platform/time.ts";
import type { Ledger } from "./transact.ts";

/** One account's wallet. `version` counts the changes of the balance: by it a proof knows that it has found them all. */
export const walletSchema = z.object({
  pk: z.string(),
  account_id: z.string(),
  balance_kobo: koboSchema,
  version: z.int().min(0),
  low_balance_threshold_kobo: koboSchema.optional(),
  updated_at: z.iso.datetime(),
});
export type Wallet = z.infer<typeof walletSchema>;

export const walletPk = (accountId: string): string => `wallet#${accountId}`;

/** An empty wallet, put together with its account. */
export const emptyWallet = (accountId: string, nowMs: number): Wallet => ({
  pk: walletPk(accountId),
  account_id: accountId,
  balance_kobo: koboSchema.parse(0),
  version: 0,
  updated_at: isoTime(nowMs),
});

/** The wallet, read strongly: a caller who just bought sees the new balance. */
export const readWallet = async ({ db, table }: Ledger, accountId: string): Promise<Wallet> => {
  const { Item } = await db.send(
    new GetCommand({ TableName: table, Key: { pk: walletPk(accountId) }, ConsistentRead: true }),
  );
  return walletSchema.parse(Item);
};

/** Takes money out, if there is enough: one part of the transaction that opens an order. */
export const walletDebit = ({ table, clock }: Ledger, accountId: string, amount: Kobo) => ({
  Update: {
    TableName: table,
    Key: { pk: walletPk(accountId) },
    UpdateExpression: "SET balance_kobo = balance_kobo - :amount, version = version + :one, updated_at = :now",
    ConditionExpression: "balance_kobo >= :amount",
    ExpressionAttributeValues: { ":amount": amount, ":one": 1, ":now": isoTime(clock()) },
  },
});

/** Puts money in: one part of the transaction that refunds or funds. */
export const walletCredit = ({ table, clock }: Ledger, accountId: string, amount: Kobo) => ({
  Update: {
    TableName: table,
    Key: { pk: walletPk(accountId) },
    UpdateExpression: "SET balance_kobo = balance_kobo + :amount, version = version + :one, updated_at = :now",
    ConditionExpression: "attribute_exists(pk)",
    ExpressionAttributeValues: { ":amount": amount, ":one": 1, ":now": isoTime(clock()) },
  },
});
