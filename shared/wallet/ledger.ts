import { ConditionalCheckFailedException, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { type Clock, jitter_ms, sleep } from "../platform/time.ts";
import { type TransactionRow, transactionRow } from "./transaction.ts";

/** Where the money is kept. */
export type Ledger = { readonly db: DynamoDBDocumentClient; readonly table: string; readonly clock: Clock };

/** What became of one attempt at a write that carries conditions. */
export type Collision =
  /** A condition failed; `row` is the transaction's item as it was found, if the condition was on that. */
  | { readonly kind: "refused"; readonly row: TransactionRow | undefined }
  /** Another write held an item: nothing was written, and it can be tried again. */
  | { readonly kind: "conflict" }
  /** No answer that says whether it was written. */
  | { readonly kind: "lost"; readonly error: unknown };

const RETRYABLE_REASONS = new Set([
  "TransactionConflict",
  "ThrottlingError",
  "ProvisionedThroughputExceeded",
  "RequestLimitExceeded",
]);
const RETRYABLE_ERRORS = new Set([
  "TransactionConflictException",
  "ThrottlingException",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
]);

/**
 * Reads an error of a ledger write. In a transaction the transaction's item stands first: that it exists decides before
 * anything else, and a conflict decides before the wallet's condition, which means nothing while an item was held.
 */
export const collisionOf = (error: unknown): Collision => {
  if (error instanceof ConditionalCheckFailedException) {
    return { kind: "refused", row: error.Item && transactionRow.parse(unmarshall(error.Item)) };
  }
  if (error instanceof TransactionCanceledException) {
    const reasons = error.CancellationReasons ?? [];
    const [first] = reasons;
    if (first?.Code === "ConditionalCheckFailed") {
      return { kind: "refused", row: first.Item && transactionRow.parse(unmarshall(first.Item)) };
    }
    if (reasons.some(({ Code = "" }) => RETRYABLE_REASONS.has(Code))) return { kind: "conflict" };
    if (reasons.some(({ Code }) => Code === "ConditionalCheckFailed")) return { kind: "refused", row: undefined };
  }
  if (error instanceof Error && RETRYABLE_ERRORS.has(error.name)) return { kind: "conflict" };
  return { kind: "lost", error };
};

/** Waits a random moment that grows with the round, so that writers of one wallet spread out. */
export const waitForTurn = (round: number): Promise<void> => sleep(jitter_ms(Math.min(400, 20 * 2 ** round)));

const TURNS_MAX = 8;

/**
 * An operator's write, all of it or nothing. It waits for its turn while other writes hold its items; every other error is thrown as
 * it came. A lost answer is asked for again by the SDK, under the same token.
 */
export const writeInTurn = async (
  { db }: Ledger,
  TransactItems: NonNullable<TransactWriteCommandInput["TransactItems"]>,
): Promise<void> => {
  for (let round = 0; ; round += 1) {
    try {
      await db.send(new TransactWriteCommand({ TransactItems }));
      return;
    } catch (error) {
      if (collisionOf(error).kind !== "conflict" || round === TURNS_MAX) throw error;
      await waitForTurn(round);
    }
  }
};
