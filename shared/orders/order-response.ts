import { type ErrorCode, errors, type FieldErrors, REFUNDED, ServiceError } from "../contract/errors.ts";
import { headers } from "../contract/headers.ts";
import { type Failure, referenceOf, type Transaction } from "../ledger/transaction.ts";
import type { PlacedOrder } from "./order.ts";

export const orderHeaders = ({ transaction, ...placed }: PlacedOrder): Record<string, string> => ({
  [headers.transactionReference]: referenceOf(transaction),
  ...(placed.replayed && { [headers.idempotentReplayed]: "true" }),
  ...(!placed.replayed &&
    placed.estimatedS !== undefined && { [headers.estimatedDelivery]: String(placed.estimatedS) }),
});

/** The error response of a failed transaction, also when it is replayed. */
export const failureError = ({ failure, ...transaction }: Transaction, replayed: boolean): ServiceError => {
  const code = codeOf(failure);
  return new ServiceError(code, {
    message: afterDebit[code] ?? errors[code].message,
    transactionReference: referenceOf(transaction),
    replayed,
    ...(failure?.fields && { fields: refusedFields(failure.fields) }),
  });
};

/** The messages of errors that can also be sent before a debit. */
const afterDebit: Partial<Record<ErrorCode, string>> = {
  validation_failed: `The upstream refused some fields; ${REFUNDED}`,
  plan_unavailable: `${errors.plan_unavailable.message}; ${REFUNDED}`,
};

/**
 * A queued order that was never sent is stored as `provider_unavailable`. To a caller that code would say that no
 * transaction was made (decision 0002), but this one was made and refunded.
 */
const codeOf = (failure: Failure | undefined): ErrorCode =>
  failure === undefined || failure.code === "provider_unavailable" ? "delivery_failed" : failure.code;

/** The upstream's own messages are not passed on. */
const refusedFields = (fields: readonly string[]): FieldErrors =>
  Object.fromEntries(fields.map((field) => [field, ["Was refused by the upstream"]]));
