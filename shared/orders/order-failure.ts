import { type ErrorCode, errors, type FieldErrors, REFUNDED, ServiceError } from "../contract/errors.ts";
import { type Failure, referenceOf, type Transaction } from "../ledger/transaction.ts";

/** The error that a failed transaction is answered with, first and repeated. */
export const failureError = ({ failure, ...transaction }: Transaction, replayed: boolean): ServiceError => {
  const code = codeOf(failure);
  return new ServiceError(code, {
    message: afterDebit[code] ?? errors[code].message,
    transactionReference: referenceOf(transaction),
    replayed,
    ...(failure?.fields && { fields: refusedFields(failure.fields) }),
  });
};

/** The sentences of errors that are also answered before a debit. */
const afterDebit: Partial<Record<ErrorCode, string>> = {
  validation_failed: `The upstream refused some fields; ${REFUNDED}`,
  plan_unavailable: `${errors.plan_unavailable.message}; ${REFUNDED}`,
};

/** Earlier releases stored `provider_unavailable`, which now says that no transaction was made (decision 0011). */
const codeOf = (failure: Failure | undefined): ErrorCode =>
  failure === undefined || failure.code === "provider_unavailable" ? "delivery_failed" : failure.code;

/** The upstream's own words stay inside. */
const refusedFields = (fields: readonly string[]): FieldErrors =>
  Object.fromEntries(fields.map((field) => [field, ["Was refused by the upstream"]]));
