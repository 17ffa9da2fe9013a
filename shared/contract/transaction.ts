import * as z from "zod";
import { errorCodes } from "./errors.ts";
import { referenceField, timeField } from "./fields.ts";

const choiceOf = <const Names extends readonly string[]>(...names: Names) =>
  z.enum(names, { error: ({ input }) => (input === undefined ? undefined : `Must be one of ${names.join(", ")}`) });

/** `success` and `failed` are final. Source: docs/interface.md 8.1. */
export const transactionStatus = choiceOf("processing", "success", "failed");
export type TransactionStatus = z.infer<typeof transactionStatus>;

export const transactionType = choiceOf(
  "data",
  "airtime",
  "nin_verification",
  "bvn_verification",
  "nin_retrieval",
  "bvn_retrieval",
);
export type TransactionType = z.infer<typeof transactionType>;

/** Prefixes of live references; a test reference begins with `TEST_`. Source: docs/interface.md 8.5. */
export const livePrefixes = {
  data: "DATA_",
  airtime: "AIRTIME_",
  nin_verification: "VERIFY_",
  bvn_verification: "VERIFY_",
  nin_retrieval: "RETRIEVE_",
  bvn_retrieval: "RETRIEVE_",
} as const satisfies Record<TransactionType, string>;
export const TEST_PREFIX = "TEST_";

/** The mode of a key and of its transactions. Source: docs/interface.md 3.1, 3.3. */
export const modeSchema = z.enum(["live", "test"]);
export type Mode = z.infer<typeof modeSchema>;

/** What says which order an answer is about. Source: docs/interface.md 8.12. */
export const orderIdentity = {
  type: transactionType,
  caller_reference: z.string().nullable(),
};

/** `data.transaction` of a purchase; `amount` is NGN. Source: docs/interface.md 8.6. */
export const purchasedTransaction = z.object({
  reference: z.string(),
  status: transactionStatus,
  amount: z.number(),
  description: z.string(),
  ...orderIdentity,
  phone_number: z.string().nullable(),
});

/** A transaction as lookups show it. Source: docs/interface.md 14.1. */
export const transactionView = purchasedTransaction.extend({
  network: z.string().nullable(),
  error_code: z.enum(errorCodes).nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type TransactionView = z.infer<typeof transactionView>;

export const transactionLookup = z.object({ transaction: transactionView });

/** POST /transactions/cancel. Source: docs/interface.md 7.7. */
export const cancelRequest = z.object({ reference: referenceField, type: transactionType });
export type CancelRequest = z.infer<typeof cancelRequest>;

/** The service's reference, or the caller's. */
export const transactionPath = z.object({ reference: referenceField });

/** A time whose `+` was not encoded: in a query `+` means a space. */
const DECODED_OFFSET = /^\d{4}-\d{2}-\d{2}T[\d:.]+ \d{2}:?\d{2}$/;

const momentField = z.union([timeField, z.iso.date()], {
  error: ({ input }) =>
    typeof input === "string" && DECODED_OFFSET.test(input)
      ? "A + in a URL means a space: send it as %2B, such as 2026-11-21T09:30:00%2B01:00"
      : "Must be a date such as 2026-11-21 or an ISO 8601 time such as 2026-11-21T09:30:00Z",
});

/** Filters of the list. `from` and `to` are inclusive; a date alone is that whole day in UTC. */
export const transactionQuery = z.object({
  status: transactionStatus.optional(),
  type: transactionType.optional(),
  from: momentField.optional(),
  to: momentField.optional(),
  cursor: z.string().max(400).optional(),
});
export type TransactionQuery = z.infer<typeof transactionQuery>;
export const transactionPage = z.object({
  transactions: z.array(transactionView),
  /** The `cursor` of the next page; null on the last. */
  next_cursor: z.string().nullable(),
});
