import type * as z from "#zod";
import type { OperationResult } from "../call/result.ts";
import type { purchaseResult } from "../contract/purchase.ts";
import { purchaseToView } from "../ledger/transaction.ts";
import type { PlacedOrder } from "../orders/order.ts";
import { failureError, orderHeaders } from "../orders/order-response.ts";

/** The response to a purchase and to its replays: 200 with the transaction, or the error that it failed with. */
export const purchaseResponse = (placed: PlacedOrder): OperationResult<z.input<typeof purchaseResult>> => {
  const { transaction, replayed } = placed;
  if (transaction.status === "failed") throw failureError(transaction, replayed);
  return {
    message: transaction.status === "success" ? "The purchase was delivered" : "The purchase is being processed",
    data: { transaction: purchaseToView(transaction) },
    headers: orderHeaders(placed),
  };
};
