import * as z from "#zod";
import type { Throttled } from "./throttles.ts";
import type { WireAnswer } from "./wire.ts";

/** An error as DynamoDB sends it; names and messages are those of its API reference. */
const errorAnswer = (name: string, message: string, fields: Readonly<Record<string, unknown>> = {}): WireAnswer => ({
  status: 400,
  body: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message, ...fields }),
});

const CONFLICT = "Transaction is ongoing for the item";
const THROTTLED =
  "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or " +
  "index so please try again shortly.";

export const conflictAnswer = errorAnswer("TransactionConflictException", CONFLICT);
export const mismatchAnswer = errorAnswer(
  "IdempotentParameterMismatchException",
  "Specified idempotent token was used with different request parameters within the idempotency window",
);
export const inProgressAnswer = errorAnswer(
  "TransactionInProgressException",
  "Transaction from previous request is still in progress",
);
export const notSimulatedAnswer = (what: string): WireAnswer =>
  errorAnswer("ValidationException", `The strict layer does not simulate ${what}`);

/** The messages of AWS differ for empty and long values; the name is the same. */
export const badKeyAnswer = errorAnswer(
  "ValidationException",
  "One or more parameter values are not valid. A key attribute is empty or exceeds the size limit of 2048 bytes",
);

/** Why one item of a transaction was refused. */
export const cancellationReason = z.looseObject({ Code: z.string() });
export type CancellationReason = z.infer<typeof cancellationReason>;
export const NO_REASON: CancellationReason = { Code: "None" };
export const CONFLICT_REASON: CancellationReason = { Code: "TransactionConflict", Message: CONFLICT };
export const THROTTLED_REASON: CancellationReason = { Code: "ThrottlingError", Message: THROTTLED };

export const cancelled = (reasons: readonly CancellationReason[]): WireAnswer => {
  const codes = reasons.map(({ Code }) => Code).join(", ");
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return errorAnswer("TransactionCanceledException", message, { CancellationReasons: reasons });
};

/** A call that is throttled for the account or the region. */
export const throttlingAnswer = errorAnswer("ThrottlingException", "Rate exceeded");

/** A single call that is throttled. On-demand tables answer with either name. */
export const throttledAnswer = ({ reason, resource, what }: Throttled): WireAnswer =>
  errorAnswer(what === "key" ? "ThrottlingException" : "ProvisionedThroughputExceededException", THROTTLED, {
    ThrottlingReasons: [{ reason, resource }],
  });
