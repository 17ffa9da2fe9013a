import type * as z from "zod";
import { headers } from "../contract/headers.ts";
import type { purchaseResult } from "../contract/purchase.ts";
import type { OperationResult } from "../lambda/api-response.ts";
import { referenceOf } from "../ledger/transaction.ts";
import { failureError } from "../orders/order-failure.ts";
import type { PlacedOrder } from "../orders/place-order.ts";
import { nairaFromKobo } from "../platform/money.ts";

/** What a purchase answers, first or repeated: 200 with the transaction, or the error that it failed with. */
export const purchaseResponse = ({
  transaction,
  replayed,
}: PlacedOrder): OperationResult<z.input<typeof purchaseResult>> => {
  if (transaction.status === "failed") throw failureError(transaction, replayed);
  const reference = referenceOf(transaction);
  return {
    message: transaction.status === "success" ? "The purchase was delivered" : "The purchase is being processed",
    data: {
      transaction: {
        reference,
        status: transaction.status,
        amount: nairaFromKobo(transaction.amount_kobo),
        description: transaction.description,
      },
    },
    headers: {
      [headers.transactionReference]: reference,
      ...(replayed && { [headers.idempotentReplayed]: "true" }),
    },
  };
};
