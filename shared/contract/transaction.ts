import * as z from "#zod";
import { components } from "./components.ts";
import { errorCodes } from "./errors.ts";
import { amountField, createdAtField, referenceField, updatedAtField } from "./fields.ts";
import { lazyObject } from "./lazy-object.ts";

/** `success` and `failed` are final. Source: docs/interface.md 8.1. */
export const transactionStatus = z
  .enum(["processing", "success", "failed"])
  .register(z.globalRegistry, { description: "`success` and `failed` are final." })
  .register(components, { id: "TransactionStatus" });
export type TransactionStatus = z.infer<typeof transactionStatus>;

/** Orders that are delivered to a phone number. One whose outcome is not known yet may have been delivered. */
const purchaseTypes = ["data", "airtime"] as const;
/** Identity checks. One whose request has ended without a result is worth nothing, and is refunded. */
const checkTypes = ["nin_verification", "bvn_verification", "nin_retrieval", "bvn_retrieval"] as const;

export const transactionType = z.enum([...purchaseTypes, ...checkTypes]).register(components, {
  id: "TransactionType",
});
export type TransactionType = z.infer<typeof transactionType>;

export const isPurchaseType = (type: string): boolean => purchaseTypes.some((each) => each === type);
export const isCheckType = (type: string): boolean => checkTypes.some((each) => each === type);

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
/** What follows the prefix, as a pattern (shared/platform/base32.ts). */
export const REFERENCE_ID = "[0-9A-Z]{26}";

/** The mode of a key and of its transactions. Source: docs/interface.md 3.1, 3.3. */
export const modeSchema = z.enum(["live", "test"]);
export type Mode = z.infer<typeof modeSchema>;

/** What says which order an answer is about. Source: docs/interface.md 8.12. */
export const orderIdentity = {
  type: transactionType,
  caller_reference: z.nullable(z.string()).register(z.globalRegistry, {
    description:
      "The `reference` that the caller sent; null if it sent none. Compare it with your request: an answer about another order says nothing about yours.",
  }),
};

/** The service's own id of a transaction. */
export const serviceReferenceField = z.string().register(z.globalRegistry, {
  description: "The service's reference: the kind of order, or `TEST`, then `_` and 26 characters.",
});

/** A recipient's number. `ofChecks` says what identity checks have instead. */
export const recipientField = <Field extends z.ZodMiniType>(field: Field, ofChecks = "") =>
  field.check(
    z.meta({
      description: `The recipient's number${ofChecks}. After the retention of the deployment (400 days by default) all but the last two digits are \`*\`.`,
    }),
  );

/** `data.transaction` of a purchase; `amount` is NGN. Source: docs/interface.md 8.6. */
export const purchasedTransaction = z
  .object({
    reference: serviceReferenceField,
    status: transactionStatus,
    amount: amountField,
    description: z.string().register(z.globalRegistry, { description: "The product and the recipient." }),
    ...orderIdentity,
    phone_number: recipientField(z.nullable(z.string())),
  })
  .register(components, { id: "PurchasedTransaction" });

/** A transaction as lookups show it. Source: docs/interface.md 14.1. */
export const transactionView = lazyObject(() => ({
  ...purchasedTransaction.shape,
  phone_number: recipientField(z.nullable(z.string()), "; null for identity checks"),
  network: z
    .nullable(z.string())
    .register(z.globalRegistry, { description: "The network's display name; null for identity checks." }),
  error_code: z.nullable(z.enum(errorCodes)).register(z.globalRegistry, {
    description: "Why the transaction failed: a code of `X-Error-Code`; null unless the status is `failed`.",
  }),
  created_at: createdAtField,
  updated_at: updatedAtField,
})).register(components, { id: "Transaction" });
export type TransactionView = z.infer<typeof transactionView>;

export const transactionLookup = z
  .object({ transaction: transactionView })
  .register(components, { id: "TransactionLookup" });

/** POST /transactions/cancel. Source: docs/interface.md 7.7. */
export const cancelRequest = z
  .object({ reference: referenceField, type: transactionType })
  .register(components, { id: "CancelRequest" });
export type CancelRequest = z.infer<typeof cancelRequest>;
