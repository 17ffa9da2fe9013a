import * as z from "zod";
import { errorCodes } from "../contract/errors.ts";
import {
  livePrefixes,
  type Mode,
  modeSchema,
  TEST_PREFIX,
  type TransactionStatus,
  type TransactionType,
  type TransactionView,
  transactionStatus,
  transactionType,
} from "../contract/transaction.ts";
import { koboSchema, nairaFromKobo } from "../platform/money.ts";

/** Forward only; a status with no way out is final. Nothing else in the code decides this. */
export const transitions = {
  processing: ["success", "failed"],
  success: [],
  failed: [],
} as const satisfies Record<TransactionStatus, readonly TransactionStatus[]>;

export const isFinalStatus = (status: TransactionStatus): boolean => transitions[status].length === 0;

/** Why a transaction failed: the caller's answer, kept so that a repeat gets the same one. */
export const failureSchema = z.object({
  code: z.enum(errorCodes),
  /** Fields of the order that the upstream refused, for a `validation_failed`. */
  fields: z.array(z.string()).optional(),
});
export type Failure = z.infer<typeof failureSchema>;

/**
 * One transaction's item in the ledger table; together with its index entries it is all that is known of an order. It stays
 * below 1 KB, so that each write of it costs one unit (two in a transaction).
 */
export const transactionSchema = z.object({
  pk: z.string(),
  /** Account and mode: `acc_1#live`. Partition of the index by time. */
  owner: z.string(),
  account_id: z.string(),
  key_id: z.string(),
  mode: modeSchema,
  type: transactionType,
  status: transactionStatus,
  /** Random, made by the request that put the item: tells that request's own write from another's. */
  attempt: z.string(),
  /** HMAC over the order's normalised fields: tells a repeat from another order under the same reference. */
  fingerprint: z.string(),
  caller_reference: z.string().optional(),
  amount_kobo: koboSchema,
  description: z.string(),
  network: z.string().optional(),
  phone_number: z.string().optional(),
  /** What the upstream calls it; set as soon as it is known. */
  upstream_reference: z.string().optional(),
  /** What the upstream charged us, in kobo. */
  upstream_amount_kobo: koboSchema.optional(),
  failure: failureSchema.optional(),
  /** Live and `processing`: the index of what still has to end. */
  open: z.literal("live").optional(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Transaction = z.infer<typeof transactionSchema>;

/** An identity check: it has no result to wait for once its request is gone. */
export const isIdentityCheck = ({ type }: Pick<Transaction, "type">): boolean => type !== "data" && type !== "airtime";

/** What a transaction has done to its wallet so far. */
export const signedKobo = ({ status, amount_kobo }: Pick<Transaction, "status" | "amount_kobo">): number =>
  status === "failed" ? 0 : -amount_kobo;

const PK_PREFIX = "transaction#";
export const transactionPk = (id: string): string => `${PK_PREFIX}${id}`;
export const isTransactionPk = (pk: string): boolean => pk.startsWith(PK_PREFIX);
export const transactionId = ({ pk }: Pick<Transaction, "pk">): string => pk.slice(PK_PREFIX.length);

export const transactionOwner = (accountId: string, mode: Mode): string => `${accountId}#${mode}`;

const prefixOf = (type: TransactionType, mode: Mode): string => (mode === "test" ? TEST_PREFIX : livePrefixes[type]);

/** The reference that callers see: it is made of the item's own key, so that it needs no index. */
export const referenceOf = (transaction: Transaction): string =>
  `${prefixOf(transaction.type, transaction.mode)}${transactionId(transaction)}`;

const REFERENCE = /^[A-Z]+_([0-9A-Z]{26})$/;
/** The item's key within one of our references, or undefined where the text cannot be one. */
export const pkOfReference = (reference: string): string | undefined => {
  const id = REFERENCE.exec(reference)?.[1];
  return id && transactionPk(id);
};

export const transactionToView = (transaction: Transaction): TransactionView => ({
  reference: referenceOf(transaction),
  status: transaction.status,
  amount: nairaFromKobo(transaction.amount_kobo),
  description: transaction.description,
  type: transaction.type,
  caller_reference: transaction.caller_reference ?? null,
  network: transaction.network ?? null,
  phone_number: transaction.phone_number ?? null,
  error_code: transaction.failure?.code ?? null,
  created_at: transaction.created_at,
  updated_at: transaction.updated_at,
});
