import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { retryContention } from "../platform/backoff.ts";
import { abortAfter, type Deadline, settleBudgetMs } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import { isoTime } from "../platform/time.ts";
import type { Ledger } from "./ledger.ts";
import { classifyWriteError } from "./transact.ts";
import type { Transaction } from "./transaction.ts";

export type VoidResult =
  /** The debit was not made, and can no longer be. */
  | { readonly kind: "void"; readonly transaction: Transaction }
  /** Nothing was written now: the debit was made, it is void already, or another request has the transaction's key. */
  | { readonly kind: "exists"; readonly transaction: Transaction }
  /** No conclusive response before the deadline. */
  | { readonly kind: "indeterminate" };

/**
 * Puts a transaction as `failed` in place of its debit, unless an item has its key: as `void`, or as `cancelled` if the
 * given one is. The debit has the same condition, so that one in flight fails from then on, however late it lands.
 */
export const voidDebit = async (
  { db, table, clock }: Ledger,
  { open: _open, listed_at: _listedAt, ...transaction }: Transaction,
  deadline: Deadline,
): Promise<VoidResult> => {
  const Item: Transaction = {
    failure: { code: "delivery_failed" },
    debit: "void",
    ...transaction,
    status: "failed",
    updated_at: isoTime(clock()),
  };
  const put = new PutCommand({
    TableName: table,
    Item,
    ConditionExpression: "attribute_not_exists(pk)",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  const limitMs = settleBudgetMs(deadline);
  const abort = { abortSignal: abortAfter(limitMs) };
  try {
    await retryContention(() => db.send(put, abort), limitMs);
    return { kind: "void", transaction: Item };
  } catch (error) {
    const failure = classifyWriteError(error);
    if (failure.kind === "condition_failed" && failure.transaction !== undefined) {
      return { kind: "exists", transaction: failure.transaction };
    }
    log.warn("debit.not_voided", { write_token: transaction.write_token, ...errorFields(error) });
    return { kind: "indeterminate" };
  }
};
