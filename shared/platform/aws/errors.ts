import type { CancellationReason, ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";

// By their names: the errors of the short path are not of the SDK's classes, which are loaded late.

/** DynamoDB's answer to a write of one item whose condition failed. */
export const isConditionFailure = (error: unknown): error is Error & Pick<ConditionalCheckFailedException, "Item"> =>
  error instanceof Error && error.name === "ConditionalCheckFailedException";

/** DynamoDB's answer to a transaction of which nothing was written. */
export const isCancelledTransaction = (
  error: unknown,
): error is Error & { readonly CancellationReasons?: readonly CancellationReason[] } =>
  error instanceof Error && error.name === "TransactionCanceledException";

/** The errors of a call's attempts before its last one (shared/platform/aws/sdk.ts). */
export const earlierAttempts = (error: unknown): readonly unknown[] =>
  error instanceof Error && "earlierAttempts" in error && Array.isArray(error.earlierAttempts)
    ? error.earlierAttempts
    : [];
