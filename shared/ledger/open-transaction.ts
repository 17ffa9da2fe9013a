import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { backoff } from "../platform/backoff.ts";
import { abortAfter, type Deadline, debitBudgetMs, debitRetryMs, settleBudgetMs } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import { type Ledger, transact, type Writes } from "./transact.ts";
import { type Transaction, transactionSchema } from "./transaction.ts";
import { walletDebit } from "./wallet.ts";

/** An item that is kept with a transaction, such as the record of a consent. */
export type RecordItem = { readonly pk: string } & Readonly<Record<string, string>>;

export type OpenResult =
  /** The transaction stands and its price is taken: go on to the upstream. */
  | { readonly kind: "opened" }
  /** An order with this reference stands already; this is it. Nothing was written. */
  | { readonly kind: "exists"; readonly transaction: Transaction }
  | { readonly kind: "insufficient_balance" }
  /** Nothing was written: other writes held the wallet until the upstream's share of the time began. */
  | { readonly kind: "busy" }
  /**
   * It may have been written, or may yet be. Nothing must be sent upstream. Unless it was `lookedUp`, an earlier order may stand
   * there as well.
   */
  | { readonly kind: "doubt"; readonly lookedUp: boolean };

/**
 * Debits the wallet and puts the transaction and its records, in one write or not at all. A test transaction touches no wallet.
 *
 * The write is built once, because its retries have to be the same request. An answer that stays away is asked for once more,
 * and then by a strong read: the row's random `attempt` says whether what stands there is ours.
 */
export const openTransaction = async (
  ledger: Ledger,
  transaction: Transaction,
  records: readonly RecordItem[],
  deadline: Deadline,
): Promise<OpenResult> => {
  const result = await transact(ledger.db, openingWrites(ledger, transaction, records), {
    nextAttempt: backoff(() => debitRetryMs(deadline)),
    lossesMax: 1,
    abortSignal: abortAfter(debitBudgetMs(deadline)),
    about: { attempt: transaction.attempt },
  });
  if (result.kind === "written") return { kind: "opened" };
  if (result.kind === "refused" && result.transaction !== undefined)
    return resultFromStored(result.transaction, transaction);
  // Neither a failed condition on the wallet nor a conflict proves anything while an earlier copy of the write may arrive.
  if (!result.isCertain) return resolveIndeterminate(ledger, transaction, deadline);
  return { kind: result.kind === "refused" ? "insufficient_balance" : "busy" };
};

const openingWrites = (ledger: Ledger, transaction: Transaction, records: readonly RecordItem[]): Writes => [
  {
    Put: {
      TableName: ledger.table,
      Item: transaction,
      ConditionExpression: "attribute_not_exists(pk)",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    },
  },
  ...(transaction.mode === "live" ? [walletDebit(ledger, transaction.account_id, transaction.amount_kobo)] : []),
  ...records.map((Item) => ({ Put: { TableName: ledger.table, Item } })),
];

const resultFromStored = (found: Transaction, ours: Transaction): OpenResult =>
  found.attempt === ours.attempt ? { kind: "opened" } : { kind: "exists", transaction: found };

/** The last resort of a lost answer. That nothing is there proves nothing: the write may still be on its way. */
const resolveIndeterminate = async (
  { db, table }: Ledger,
  ours: Transaction,
  deadline: Deadline,
): Promise<OpenResult> => {
  try {
    const { Item } = await db.send(new GetCommand({ TableName: table, Key: { pk: ours.pk }, ConsistentRead: true }), {
      abortSignal: abortAfter(settleBudgetMs(deadline)),
    });
    return Item === undefined
      ? { kind: "doubt", lookedUp: true }
      : resultFromStored(transactionSchema.parse(Item), ours);
  } catch (error) {
    log.warn("debit.lookup_failed", { attempt: ours.attempt, ...errorFields(error) });
    return { kind: "doubt", lookedUp: false };
  }
};
