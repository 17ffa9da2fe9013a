import { GetCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { modeSchema, transactionType } from "../contract/transaction.ts";
import type { Ledger } from "../ledger/transact.ts";
import type { Transaction } from "../ledger/transaction.ts";

/**
 * Who requested whose record, and for what purpose. Stored for every accepted identity request, with its transaction.
 */
const consentSchema = z.object({
  pk: z.string(),
  account_id: z.string(),
  key_id: z.string(),
  mode: modeSchema,
  /** HMAC of the number that identifies the person. */
  subject: z.string(),
  operation: transactionType,
  extent: z.enum(["basic", "advanced", "retrieval"]),
  purpose: z.string().optional(),
  request_id: z.string(),
  created_at: z.iso.datetime(),
});
export type Consent = z.infer<typeof consentSchema>;

export const consentPk = ({ pk }: Pick<Transaction, "pk">): string => `consent#${pk}`;

/** The consent of an identity request; undefined for any other transaction. */
export const readConsent = async ({ db, table }: Ledger, transaction: Transaction): Promise<Consent | undefined> => {
  const { Item } = await db.send(
    new GetCommand({ TableName: table, Key: { pk: consentPk(transaction) }, ConsistentRead: true }),
  );
  return Item && consentSchema.parse(Item);
};
