import * as z from "#zod";
import { lazyObject } from "../contract/lazy-object.ts";
import { koboSchema } from "../contract/values/money.ts";
import type { Ledger } from "./ledger.ts";
import { refundPk, refundsList } from "./schema.ts";
import type { Transaction } from "./transaction.ts";

/**
 * When a transaction was refunded: it is put by the write that marks the transaction `failed` and credits its wallet,
 * and never changes. The transaction's own item is the debit, which a statement dates with `created_at`.
 */
export const refundSchema = lazyObject(() => ({
  pk: z.string(),
  list_key: z.string(),
  account_id: z.string(),
  amount_kobo: koboSchema,
  created_at: z.iso.datetime(),
}));

/** One part of a transaction of writes, of which the condition on the transaction allows one. */
export const refundPut = (
  { table }: Pick<Ledger, "table">,
  { account_id, amount_kobo, ...transaction }: Pick<Transaction, "pk" | "account_id" | "amount_kobo">,
  bookedAt: string,
) => {
  const Item: z.infer<typeof refundSchema> = {
    pk: refundPk(transaction),
    list_key: refundsList(account_id),
    account_id,
    amount_kobo,
    created_at: bookedAt,
  };
  return { Put: { TableName: table, Item } };
};
