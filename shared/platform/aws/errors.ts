import type { CancellationReason, ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";

// By their names: the errors of the short path are not of the SDK's classes, which are loaded late.

/** DynamoDB's answer to a write of one item whose condition failed. */
type ConditionFailure = Error & Pick<ConditionalCheckFailedException, "Item">;

export const isConditionFailure = (error: unknown): error is ConditionFailure =>
  error instanceof Error && error.name === "ConditionalCheckFailedException";

/** What refused a conditional write; undefined if it was made. */
export const conditionFailure = async (write: Promise<unknown>): Promise<ConditionFailure | undefined> => {
  try {
    await write;
    return undefined;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    return error;
  }
};

/** Whether a conditional write was made. */
export const unlessRefused = async (write: Promise<unknown>): Promise<boolean> =>
  (await conditionFailure(write)) === undefined;

/** Why nothing of a transaction was written: a reason for each of its writes, in their order. None for another error. */
export const cancellationReasons = (error: unknown): readonly CancellationReason[] =>
  isCancelledTransaction(error) ? (error.CancellationReasons ?? []) : [];

const isCancelledTransaction = (
  error: unknown,
): error is Error & { readonly CancellationReasons?: readonly CancellationReason[] } =>
  error instanceof Error && error.name === "TransactionCanceledException";

/** Whether the condition of the write at this position of a transaction failed. */
export const hasConditionFailed = (error: unknown, position: number): boolean =>
  cancellationReasons(error)[position]?.Code === "ConditionalCheckFailed";

/** The errors of a call's attempts before its last one (shared/platform/aws/sdk.ts). */
export const earlierAttempts = (error: unknown): readonly unknown[] =>
  error instanceof Error && "earlierAttempts" in error && Array.isArray(error.earlierAttempts)
    ? error.earlierAttempts
    : [];
