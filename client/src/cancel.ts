import type { CancelRequest, Transaction } from "./contract-types.ts";
import { isRecord } from "./field-names.ts";
import { type CallOptions, send } from "./send.ts";
import type { Settings } from "./settings.ts";
import { isTransaction } from "./transaction.ts";

/** The order to cancel: its own reference, and what it was. */
export type Cancellation = Readonly<CancelRequest>;

/**
 * Makes sure that no request places the order from now on, whatever is still on its way. The answer is the transaction:
 * `failed` if the order was not placed, and as it is if it was.
 */
export const cancelOrder = (
  settings: Settings,
  { reference, type }: Cancellation,
  options: CallOptions,
): Promise<Transaction> =>
  send(
    settings,
    {
      operation: "cancelOrder",
      method: "POST",
      path: "/transactions/cancel",
      body: JSON.stringify({ reference, type }),
      read: ({ data }) =>
        isRecord(data) &&
        isTransaction<Transaction>(settings, data.transaction) &&
        data.transaction.callerReference === reference
          ? data.transaction
          : undefined,
    },
    options,
  );
