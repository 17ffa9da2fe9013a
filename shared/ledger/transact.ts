import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { CancellationReason } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { cancellationReasons, earlierAttempts, isConditionFailure } from "../platform/aws/errors.ts";
import type { DocumentClient } from "../platform/aws-clients.ts";
import { backoff, isContention, type NextAttempt } from "../platform/backoff.ts";
import { deadlineIn } from "../platform/deadline.ts";
import { errorFields, type LogFields, log } from "../platform/log.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { OPERATOR_RETRY_MS_MAX } from "../platform/time-budgets.ts";
import { isTransient } from "../platform/transient-error.ts";
import { isEntryStored, linkAudit } from "./audit-chain.ts";
import type { Table, Writes } from "./ledger.ts";
import { isEntryPk, itemKindOf } from "./schema.ts";
import { type Transaction, transactionSchema } from "./transaction.ts";
import { type Wallet, walletSchema } from "./wallet.ts";

/** Without a failed condition nothing is known of what is stored. */
export type ShowsNothing = {
  readonly transaction?: undefined;
  readonly wallet?: undefined;
  readonly items?: undefined;
};

/** A write that was not made, or of which no response says whether it was. `isFault`: for another reason than AWS. */
export type IndeterminateWrite = { readonly kind: "indeterminate"; readonly isFault?: boolean };

/** What is known after the last attempt failed with this error. */
export const indeterminateAfter = (error: unknown): IndeterminateWrite =>
  isTransient(error) ? { kind: "indeterminate" } : { kind: "indeterminate", isFault: true };

/** Why one attempt at a conditional write failed. */
export type WriteFailure =
  /** A condition failed; `transaction` is the stored item, if the condition was on a transaction. */
  | {
      readonly kind: "condition_failed";
      readonly transaction: Transaction | undefined;
      /** The stored wallet, if its condition failed and the write asked for it. */
      readonly wallet?: Wallet;
      /** All stored items whose conditions failed, of the writes that asked for them. */
      readonly items?: readonly Readonly<Record<string, unknown>>[];
    }
  /** Another write held an item: nothing was written, and a retry may succeed. */
  | (ShowsNothing & { readonly kind: "conflict" })
  /** An earlier copy of the same request, under the same token, is still in progress. */
  | (ShowsNothing & { readonly kind: "in_progress" })
  /** No response states whether it was written. */
  | (ShowsNothing & { readonly kind: "indeterminate"; readonly error: unknown });

/**
 * Classifies an error of a ledger write. Precedence: the condition on the transaction, which is item 0; then a
 * conflict, because the wallet's condition is inconclusive while an item is held; then the wallet's condition.
 *
 * IdempotentParameterMismatchException is not expected, because each token is sent with one set of parameters. It would
 * mean that another request was carried out under the token, and so is indeterminate.
 */
export const classifyWriteError = (error: unknown): WriteFailure => {
  if (isConditionFailure(error)) {
    return { kind: "condition_failed", transaction: error.Item && transactionSchema.parse(unmarshall(error.Item)) };
  }
  const reasons = cancellationReasons(error);
  const [first] = reasons;
  if (first?.Code === "ConditionalCheckFailed" && !isEntryPk(pkOf(first.Item))) {
    return { kind: "condition_failed", transaction: first.Item && transactionSchema.parse(unmarshall(first.Item)) };
  }
  if (isContention(error)) return { kind: "conflict" };
  const failed = reasons.filter(({ Code }) => Code === "ConditionalCheckFailed");
  // Another entry took the place in the audit log first: that says nothing about the change itself.
  const others = failed.filter(({ Item }) => !isEntryPk(pkOf(Item)));
  if (failed.length > 0 && others.length === 0) return { kind: "conflict" };
  if (others.length > 0) {
    const items = others.flatMap(({ Item }) => (Item ? [unmarshall(Item)] : []));
    const wallet = others.find(({ Item }) => itemKindOf(pkOf(Item)) === "wallet")?.Item;
    return {
      ...{ kind: "condition_failed", transaction: undefined, items },
      ...(wallet && { wallet: walletSchema.parse(unmarshall(wallet)) }),
    };
  }
  if (error instanceof Error && error.name === "TransactionInProgressException") return { kind: "in_progress" };
  return { kind: "indeterminate", error };
};

const pkOf = (item: CancellationReason["Item"]): string => item?.pk?.S ?? "";

/** The result of a transaction of writes. `error` is the last one, as it was thrown. */
export type WriteResult =
  | { readonly kind: "written" }
  | (WriteFailure & {
      readonly error: unknown;
      /** False if a copy of the request got no response: it may have been carried out, or may yet be. */
      readonly isCertain: boolean;
    });

/** Sends the writes once, with their audit entry in the next place of its log. */
export const transactOnce = async (
  db: DocumentClient,
  writes: Writes,
  token: string,
  abortSignal?: AbortSignal,
): Promise<WriteResult> => {
  const linked = await linkAudit(db, writes);
  const result = await sendOnce(db, linked, token, abortSignal);
  const mayBeWritten = result.kind !== "written" && !result.isCertain;
  return mayBeWritten && (await isEntryStored(db, linked)) ? { kind: "written" } : result;
};

/**
 * Sends linked writes once. The SDK may try twice, and then the second response does not show whether the first copy was
 * carried out.
 */
const sendOnce = async (
  db: DocumentClient,
  TransactItems: Writes,
  ClientRequestToken: string,
  abortSignal?: AbortSignal,
): Promise<WriteResult> => {
  try {
    await db.transactWrite({ ClientRequestToken, TransactItems }, { ...(abortSignal && { abortSignal }) });
    return { kind: "written" };
  } catch (error) {
    // A proposal is decided already (proposal.ts): no answer of AWS.
    if (error instanceof OperatorError) throw error;
    const failure = classifyWriteError(error);
    return { ...failure, error, isCertain: !isUnanswered(failure) && !isOfSecondCopy(error) };
  }
};

const isUnanswered = ({ kind }: WriteFailure): boolean => kind === "indeterminate" || kind === "in_progress";

/** Whether a copy that the SDK sent before got no answer: it may have been carried out, or may yet be. */
export const isOfSecondCopy = (error: unknown): boolean =>
  earlierAttempts(error).map(classifyWriteError).some(isUnanswered);

/**
 * Retries the writes until they are made, a condition fails, too many attempts are indeterminate, or the time is up.
 *
 * After an attempt without a response the same request is sent under the same token, so it has one effect. After a
 * cancellation it gets a new token: AWS does not document whether a cancelled request binds its token to its
 * parameters. The conditions of the writes keep a late first copy from having a second effect.
 */
export const transact = async (
  db: DocumentClient,
  writes: Writes,
  {
    nextAttempt,
    unansweredMax,
    about,
    abortSignal,
  }: {
    readonly nextAttempt: NextAttempt;
    /** Indeterminate attempts that are followed by another. */
    readonly unansweredMax: number;
    readonly about: Pick<LogFields<"ledger.write_indeterminate">, "write_token">;
    /** Aborts the attempt that is in flight: it is indeterminate. */
    readonly abortSignal?: AbortSignal;
  },
): Promise<WriteResult> => {
  let token = randomUUID();
  let linked = await linkAudit(db, writes);
  let unanswered = 0;
  const mayBeWritten = new Set<Writes>();
  for (;;) {
    const attempt = await sendOnce(db, linked, token, abortSignal);
    if (attempt.kind === "written") return attempt;
    if (!attempt.isCertain) mayBeWritten.add(linked);
    // Under another token and in another place of the audit log, the writes could be made and recorded twice.
    for (const sent of mayBeWritten) if (await isEntryStored(db, sent)) return { kind: "written" };
    const result = { ...attempt, isCertain: mayBeWritten.size === 0 };
    if (attempt.kind === "condition_failed") return result;
    if (attempt.kind === "indeterminate") {
      unanswered += 1;
      log.warn("ledger.write_indeterminate", { ...about, ...errorFields(attempt.error) });
      if (unanswered > unansweredMax) return result;
    }
    if (!(await nextAttempt())) return result;
    if (attempt.kind === "conflict") {
      token = randomUUID();
      linked = await linkAudit(db, writes);
    }
  }
};

/** How long an operator's write is retried while other writes hold its items. */
export const operatorRetries = (): NextAttempt => backoff(deadlineIn(OPERATOR_RETRY_MS_MAX).remainingMs);

/** An operator's writes, all of them or none. They are retried while other writes hold an item. */
export const operatorTransact = ({ db }: Pick<Table, "db">, TransactItems: Writes): Promise<WriteResult> =>
  transact(db, TransactItems, { nextAttempt: operatorRetries(), unansweredMax: 0, about: {} });

/** The same; throws the error of every other result. */
export const transactWithRetry = async (table: Pick<Table, "db">, writes: Writes): Promise<void> => {
  const result = await operatorTransact(table, writes);
  if (result.kind !== "written") throw result.error;
};

/**
 * As `transactWithRetry`, but resolves with false if a condition fails and nothing was written. A refusal after a copy
 * without an answer is thrown: that copy may be what the condition failed for, or may still land.
 */
export const transactUnlessRefused = async (table: Pick<Table, "db">, writes: Writes): Promise<boolean> => {
  const result = await operatorTransact(table, writes);
  if (result.kind === "written") return true;
  if (result.kind === "condition_failed" && result.isCertain) return false;
  throw result.error;
};

/**
 * Whether a write was made although a copy of it got no answer: then what is stored is what it would have stored. False is
 * inconclusive, because the copy may still land.
 */
export const wasWritten = async <Item>(
  { isCertain }: Pick<Exclude<WriteResult, { readonly kind: "written" }>, "isCertain">,
  read: () => Promise<Item | undefined>,
  written: Item,
): Promise<boolean> => !isCertain && isDeepStrictEqual(await read(), written);
