import type * as z from "zod";
import { type ErrorCode, errors, type FieldErrors, ServiceError } from "../contract/errors.ts";
import { headers } from "../contract/headers.ts";
import type { purchaseResult } from "../contract/purchase.ts";
import type { OperationResult } from "../lambda/api-response.ts";
import { nairaFromKobo } from "../platform/money.ts";
import { type Failure, referenceOf, type Transaction } from "../ledger/transaction.ts";
import type { PlacedOrder } from "../orders/place-order.ts";

/** What a purchase answers, first or repeated: 200 with the transaction, or the error that it failed with. */
export const purchaseResponse = ({ row, replayed }: PlacedOrder): OperationResult<z.input<typeof purchaseResult>> => {
  if (row.status === "failed") throw failureError(row, replayed);
  const reference = referenceOf(row);
  return {
    message: row.status === "success" ? "The purchase was delivered" : "The purchase is being processed",
    data: {
      transaction: {
        reference,
        status: row.status,
        amount: nairaFromKobo(row.amount_kobo),
        description: row.description,
      },
    },
    headers: {
      [headers.transactionReference]: reference,
      ...(replayed && { [headers.idempotentReplayed]: "true" }),
    },
  };
};

/** The error that a failed transaction is answered with, first and repeated. */
export const failureError = ({ failure, ...row }: Transaction, replayed: boolean): ServiceError => {
  const code = codeOf(failure);
  return new ServiceError(code, {
    message: afterDebit[code] ?? errors[code].message,
    transactionReference: referenceOf(row),
    replayed,
    ...(failure?.fields && { fields: refusedFields(failure.fields) }),
  });
};

const RETURNED = "the amount was returned. Another attempt needs a new reference";

/** The sentences of errors that are also answered before a debit. */
const afterDebit: Partial<Record<ErrorCode, string>> = {
  validation_failed: `The provider refused some fields; ${RETURNED}`,
  plan_unavailable: `${errors.plan_unavailable.message}; ${RETURNED}`,
};

/** Earlier releases stored `provider_unavailable`, which now says that no transaction was made (decision 0011). */
const codeOf = (failure: Failure | undefined): ErrorCode =>
  failure === undefined || failure.code === "provider_unavailable" ? "delivery_failed" : failure.code;

/** The upstream's own words stay inside. */
const refusedFields = (fields: readonly string[]): FieldErrors =>
  Object.fromEntries(fields.map((field) => [field, ["Was refused by the provider"]]));
