import * as z from "zod";
import { modeSchema, transactionType } from "../contract/transaction.ts";
import { getItem } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { consentPk } from "../ledger/schema.ts";
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

/** The consent of an identity request; undefined for any other transaction. */
export const readConsent = (ledger: Ledger, transaction: Transaction): Promise<Consent | undefined> =>
  getItem(ledger, consentPk(transaction), consentSchema);
