import { randomUUID } from "node:crypto";
import { ConditionalCheckFailedException, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { backoff, isContention, type NextAttempt } from "../platform/backoff.ts";
import { deadlineIn } from "../platform/deadline.ts";
import { errorFields, type LogFields, log } from "../platform/log.ts";
import type { Clock } from "../platform/time.ts";
import { OPERATOR_RETRY_MS_MAX } from "../platform/time-budgets.ts";
import { type Transaction, transactionSchema } from "./transaction.ts";

/** Where the money is kept. */
export type Ledger = { readonly db: DynamoDBDocumentClient; readonly table: string; readonly clock: Clock };

export type Writes = NonNullable<TransactWriteCommandInput["TransactItems"]>;

/** What became of one attempt at a write that carries conditions. */
export type WriteFailure =
  /** A condition failed; `row` is the transaction's item as it was found, if the condition was on that. */
  | { readonly kind: "refused"; readonly transaction: Transaction | undefined }
  /** Another write held an item: nothing was written, and it can be tried again. */
  | { readonly kind: "conflict" }
  /** An earlier copy of the same request, under the same token, is still being carried out. */
  | { readonly kind: "in_progress" }
  /** No answer that says whether it was written. */
  | { readonly kind: "lost"; readonly error: unknown };

/**
 * Reads an error of a ledger write. Precedence in a transaction: the transaction's own item, which stands first; then a conflict,
 * because the wallet's condition means nothing while an item was held; then the wallet's condition.
 *
 * IdempotentParameterMismatchException cannot come, because a token is only ever sent with one set of parameters. If it does,
 * another request of ours may have been carried out under the token, so that it counts as lost.
 */
export const classifyWriteError = (error: unknown): WriteFailure => {
  if (error instanceof ConditionalCheckFailedException) {
    return { kind: "refused", transaction: error.Item && transactionSchema.parse(unmarshall(error.Item)) };
  }
  const reasons = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
  const [first] = reasons;
  if (first?.Code === "ConditionalCheckFailed") {
    return { kind: "refused", transaction: first.Item && transactionSchema.parse(unmarshall(first.Item)) };
  }
  if (isContention(error)) return { kind: "conflict" };
  if (reasons.some(({ Code }) => Code === "ConditionalCheckFailed")) return { kind: "refused", transaction: undefined };
  if (error instanceof Error && error.name === "TransactionInProgressException") return { kind: "in_progress" };
  return { kind: "lost", error };
};

/** What became of a transaction of writes. `error` is the last one, as it came. */
export type WriteResult =
  | { readonly kind: "written" }
  | (WriteFailure & {
      readonly error: unknown;
      /** False where an earlier copy of the request went without an answer, and so may have been carried out, or may yet be. */
      readonly isCertain: boolean;
    });

/** Sends a transaction once. The SDK may try twice, and then the second answer does not say what became of the first copy. */
export const transactOnce = async (
  db: DynamoDBDocumentClient,
  TransactItems: Writes,
  ClientRequestToken: string,
  abortSignal?: AbortSignal,
): Promise<WriteResult> => {
  let isCertain = true;
  const command = new TransactWriteCommand({ ClientRequestToken, TransactItems });
  command.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        if (isWithoutAnswer(classifyWriteError(error))) isCertain = false;
        throw error;
      }
    },
    // Behind the SDK's own retries, so that each attempt passes here. The document client adds a command's middleware twice.
    { step: "finalizeRequest", priority: "low", name: "noteAttemptsWithoutAnswer", override: true },
  );
  try {
    await db.send(command, { ...(abortSignal && { abortSignal }) });
    return { kind: "written" };
  } catch (error) {
    const collision = classifyWriteError(error);
    return { ...collision, error, isCertain: isCertain && !isWithoutAnswer(collision) };
  }
};

const isWithoutAnswer = ({ kind }: WriteFailure): boolean => kind === "lost" || kind === "in_progress";

/**
 * Sends the same transaction until it is written, refused, lost too often, or the time is up.
 *
 * After an attempt without an answer the same request goes out again under the same token, so that it has one effect. After a
 * cancellation it has a new token: AWS does not document whether a cancelled request binds its token to its parameters. The
 * conditions of the writes keep a late first copy from having a second effect.
 */
export const transact = async (
  db: DynamoDBDocumentClient,
  TransactItems: Writes,
  {
    nextAttempt,
    lossesMax,
    about,
    abortSignal,
  }: {
    readonly nextAttempt: NextAttempt;
    readonly lossesMax: number;
    readonly about: Pick<LogFields<"ledger.write_indeterminate">, "attempt" | "key">;
    /** Ends an attempt that is on its way: it counts as lost. */
    readonly abortSignal?: AbortSignal;
  },
): Promise<WriteResult> => {
  let token = randomUUID();
  let losses = 0;
  let isCertain = true;
  for (;;) {
    const attempt = await transactOnce(db, TransactItems, token, abortSignal);
    if (attempt.kind === "written") return attempt;
    isCertain &&= attempt.isCertain;
    const result = { ...attempt, isCertain };
    if (attempt.kind === "refused") return result;
    if (attempt.kind === "lost") {
      losses += 1;
      log.warn("ledger.write_indeterminate", { ...about, ...errorFields(attempt.error) });
      if (losses > lossesMax) return result;
    }
    if (attempt.kind === "conflict") token = randomUUID();
    if (!(await nextAttempt())) return result;
  }
};

/** How long an operator's write is tried again while other writes hold its items. */
export const operatorRetries = (): NextAttempt => backoff(deadlineIn(OPERATOR_RETRY_MS_MAX).remainingMs);

/** An operator's write, all of it or nothing. It is tried again while other writes hold its items; every other error is thrown as it came. */
export const transactWithRetry = async ({ db }: Pick<Ledger, "db">, TransactItems: Writes): Promise<void> => {
  const result = await transact(db, TransactItems, { nextAttempt: operatorRetries(), lossesMax: 0, about: {} });
  if (result.kind !== "written") throw result.error;
};
