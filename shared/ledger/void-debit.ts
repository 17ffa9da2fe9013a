import { retryContention } from "../platform/backoff.ts";
import { abortAfter, type Deadline, settleBudgetMs } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import { isoTime } from "../platform/time.ts";
import type { Ledger } from "./ledger.ts";
import { classifyWriteError, type IndeterminateWrite, indeterminateAfter } from "./transact.ts";
import type { Transaction } from "./transaction.ts";
import { transactionPut, transitions } from "./transaction-state.ts";

export type VoidResult =
  /** The debit was not made, and can no longer be. */
  | { readonly kind: "void"; readonly transaction: Transaction }
  /** Nothing was written now: the debit was made, it is void already, or another request has the transaction's key. */
  | { readonly kind: "exists"; readonly transaction: Transaction }
  /** No conclusive response before the deadline. */
  | IndeterminateWrite;

/**
 * Puts a transaction as `failed` in place of its debit, unless an item has its key: as `void`, or as `cancelled` if the
 * given one is. The debit has the same condition, so that one in flight fails from then on, however late it lands. What
 * was not debited was not counted for a limit either.
 */
export const voidDebit = async (
  ledger: Ledger,
  { counted: _notCounted, ...transaction }: Transaction,
  deadline: Deadline,
): Promise<VoidResult> => {
  const { Put } = transactionPut(ledger, transitions.void, {
    failure: { code: "delivery_failed" },
    debit: "void",
    ...transaction,
    updated_at: isoTime(ledger.clock()),
  });
  const limitMs = settleBudgetMs(deadline);
  const abort = { abortSignal: abortAfter(limitMs) };
  try {
    await retryContention(() => ledger.db.put(Put, abort), limitMs);
    return { kind: "void", transaction: Put.Item };
  } catch (error) {
    const stored = classifyWriteError(error).transaction;
    if (stored !== undefined) return { kind: "exists", transaction: stored };
    log.warn("debit.not_voided", { write_token: transaction.write_token, ...errorFields(error) });
    return indeterminateAfter(error);
  }
};
