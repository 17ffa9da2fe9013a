import * as z from "#zod";
import { consentMethod } from "../contract/identity.ts";
import { replaceableObject } from "../contract/lazy-object.ts";
import { modeSchema, transactionType } from "../contract/transaction.ts";
import type { AccountMode } from "../ledger/find-transactions.ts";
import { getItem, getItems } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type IndexKey, queryList, type TimeRange } from "../ledger/query-index.ts";
import { consentPk, transactionList, transactionPkOfConsent } from "../ledger/schema.ts";
import { referenceOf, type Transaction } from "../ledger/transaction.ts";

/**
 * How the person consented, as the caller says. The retention removes it on condition that it is stored as it was read, so
 * that it must be read with the fields of a later release.
 */
export const evidenceSchema = replaceableObject(() => ({
  method: consentMethod,
  id: z.string(),
  obtained_at: z.iso.datetime(),
  text_version: z.optional(z.string()),
}));

/**
 * Who requested whose record, and for what purpose. Stored for every accepted identity request, with its transaction.
 */
export const consentSchema = z.object({
  pk: z.string(),
  account_id: z.string(),
  key_id: z.string(),
  mode: modeSchema,
  /**
   * HMAC of the number that identifies the subject, and the id of the key in KMS that made it. Absent once the subject was
   * erased, or the retention of consents has ended.
   */
  subject: z.optional(z.string()),
  subject_key: z.optional(z.string()),
  operation: transactionType,
  extent: z.enum(["basic", "advanced", "retrieval"]),
  purpose: z.optional(z.string()),
  evidence: z.optional(evidenceSchema),
  request_id: z.string(),
  created_at: z.iso.datetime(),
});
export type Consent = z.infer<typeof consentSchema>;

/** The consent of an identity request; undefined for any other transaction. */
export const readConsent = (ledger: Ledger, transaction: Transaction): Promise<Consent | undefined> =>
  getItem(ledger, consentPk(transaction), consentSchema);

/** A consent as it is shown, without its subject: only the subject's keyed hash is stored. */
export const consentView = (consent: Consent) => {
  const {
    account_id,
    key_id,
    mode,
    operation,
    extent,
    purpose = null,
    evidence = null,
    created_at,
    request_id,
  } = consent;
  return {
    reference: referenceOf({ pk: transactionPkOfConsent(consent), type: operation, mode }),
    account_id,
    key_id,
    mode,
    operation,
    extent,
    purpose,
    evidence,
    created_at,
    request_id,
  };
};

/** Keys of transactions that one query reads: purchases have no consent. */
const KEYS_PER_READ = 500;

/** The consents of some of an account's transactions. A page may be empty although `next` is set. */
export const readConsents = async (
  ledger: Ledger,
  { accountId, mode }: AccountMode,
  range: TimeRange,
  start: IndexKey | undefined,
  order: "oldest" | "newest",
): Promise<{ readonly consents: readonly Consent[]; readonly next: IndexKey | undefined }> => {
  const list = transactionList(accountId, mode);
  const { keys, next } = await queryList(ledger, list, range, start, { [order]: KEYS_PER_READ });
  return { consents: await getItems(ledger, keys.map(consentPk), consentSchema), next };
};
