import { GetCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { errorFields, log } from "../platform/log.ts";
import { collisionOf, type Ledger, waitForTurn } from "./ledger.ts";
import { type TransactionRow, transactionRow } from "./transaction.ts";
import { walletDebit } from "./wallet.ts";

/** How long an order waits for its turn at a busy wallet. */
const DEBIT_PATIENCE_MS = 2_000;

/** An item that is kept with a transaction, such as the record of a consent. */
export type RecordItem = { readonly pk: string } & Readonly<Record<string, string>>;

export type Opening =
  /** The transaction stands and its price is taken: go on to the upstream. */
  | { readonly kind: "opened" }
  /** An order with this reference stands already; this is it. Nothing was written. */
  | { readonly kind: "exists"; readonly row: TransactionRow }
  | { readonly kind: "insufficient_balance" }
  /** Nothing was written: the wallet was too busy. */
  | { readonly kind: "busy" }
  /**
   * It may have been written, or may yet be. Nothing must be sent upstream. Unless it was `lookedUp`, an earlier order may stand
   * there as well.
   */
  | { readonly kind: "doubt"; readonly lookedUp: boolean };

/**
 * Debits the wallet and puts the transaction and its records, in one write or not at all. A test transaction touches no wallet.
 *
 * An answer that was lost is asked for again with the same token, and then by a strong read: the row's random `attempt` says
 * whether what stands there is ours.
 */
export const openTransaction = async (
  ledger: Ledger,
  row: TransactionRow,
  records: readonly RecordItem[],
): Promise<Opening> => {
  const givesUpAt_ms = ledger.clock() + DEBIT_PATIENCE_MS;
  let losses = 0;
  for (let round = 0; ; round += 1) {
    try {
      await ledger.db.send(openingWrite(ledger, row, records));
      return { kind: "opened" };
    } catch (error) {
      const collision = collisionOf(error);
      if (collision.kind === "refused" && collision.row !== undefined) return standing(collision.row, row);
      // What a failed condition on the wallet proves, it proves only if no earlier write of ours can still arrive.
      if (collision.kind === "refused") return losses === 0 ? { kind: "insufficient_balance" } : look(ledger, row);
      if (collision.kind === "lost") {
        losses += 1;
        log.warn("debit.answer_lost", { attempt: row.attempt, ...errorFields(collision.error) });
        if (losses > 1) return look(ledger, row);
      }
      if (ledger.clock() >= givesUpAt_ms) return losses === 0 ? { kind: "busy" } : look(ledger, row);
      await waitForTurn(round);
    }
  }
};

const openingWrite = (ledger: Ledger, row: TransactionRow, records: readonly RecordItem[]) =>
  new TransactWriteCommand({
    ClientRequestToken: row.attempt,
    TransactItems: [
      {
        Put: {
          TableName: ledger.table,
          Item: row,
          ConditionExpression: "attribute_not_exists(pk)",
          ReturnValuesOnConditionCheckFailure: "ALL_OLD",
        },
      },
      ...(row.mode === "live" ? [walletDebit(ledger, row.account_id, row.amount_kobo)] : []),
      ...records.map((Item) => ({ Put: { TableName: ledger.table, Item } })),
    ],
  });

const standing = (found: TransactionRow, ours: TransactionRow): Opening =>
  found.attempt === ours.attempt ? { kind: "opened" } : { kind: "exists", row: found };

/** The last resort of a lost answer. That nothing is there proves nothing: the write may still be on its way. */
const look = async ({ db, table }: Ledger, ours: TransactionRow): Promise<Opening> => {
  try {
    const { Item } = await db.send(new GetCommand({ TableName: table, Key: { pk: ours.pk }, ConsistentRead: true }));
    return Item === undefined ? { kind: "doubt", lookedUp: true } : standing(transactionRow.parse(Item), ours);
  } catch (error) {
    log.warn("debit.look_failed", { attempt: ours.attempt, ...errorFields(error) });
    return { kind: "doubt", lookedUp: false };
  }
};
