import type { StreamName } from "../functions/function-spec.ts";
import { entriesPk, walletPk } from "../shared/ledger/schema.ts";
import type { Urgency } from "../shared/platform/log-catalog.ts";
import { type FunctionName, invokedBy } from "./functions.ts";

/** The function that reads the stream with these settings. */
const consumerOf = (stream: StreamName): FunctionName =>
  invokedBy((trigger) => trigger.kind === "stream" && trigger.stream === stream);

/**
 * The consumers of the tables' streams; DynamoDB allows two for each. Each of `patterns` lets changes through, in the
 * form of Lambda's event filters: a list holds the values that an attribute may have, or the prefix of one. AWS waits
 * up to `windowS` for a full batch.
 */
export const streamConsumers = {
  webhooks: {
    id: "Ledger",
    table: "ledger",
    consumer: consumerOf("webhooks"),
    startingPosition: "TRIM_HORIZON",
    batchSize: 100,
    windowS: 0,
    keepsFailures: true,
    silence: "page",
    // An hour less than DynamoDB keeps a change, so Lambda can still write its dead letter.
    recordAgeMaxS: 23 * 3_600,
    patterns: [
      {
        dynamodb: {
          OldImage: { status: { S: ["processing"] } },
          NewImage: { status: { S: ["success", "failed"] } },
        },
      },
      // A void debit. Other transactions are put as final ones by a cancellation, which sends no webhook, and when a
      // ledger is completed after a restore.
      { eventName: ["INSERT"], dynamodb: { NewImage: { debit: { S: ["void"] } } } },
    ],
  },
  /**
   * Statistics are approximate: what fails until then is left out, without a dead letter. A console that is removed
   * and added again has a new mapping, which must not add the last day to the same hours once more. So what ends
   * without a console, or in the minutes until Lambda polls the stream, is not counted. Source: AWS, "Polling and
   * batching streams", stream starting positions.
   */
  statistics: {
    id: "Statistics",
    table: "ledger",
    consumer: consumerOf("statistics"),
    startingPosition: "LATEST",
    batchSize: 1_000,
    windowS: 60,
    keepsFailures: false,
    recordAgeMaxS: 6 * 3_600,
    patterns: [
      {
        dynamodb: {
          OldImage: { status: { S: ["processing"] } },
          NewImage: { status: { S: ["success", "failed"] }, mode: { S: ["live"] } },
        },
      },
      { eventName: ["INSERT"], dynamodb: { NewImage: { debit: { S: ["void"] }, mode: { S: ["live"] } } } },
      { dynamodb: { Keys: { pk: { S: [{ prefix: walletPk("") }] } } } },
    ],
  },
  /** A batch that fails for longer is left out: `audit verify` names the entries, and an alarm on the function's errors, or on a stream that is not polled, notifies long before. */
  attestations: {
    id: "Attestations",
    table: "audit",
    consumer: consumerOf("attestations"),
    startingPosition: "TRIM_HORIZON",
    batchSize: 100,
    windowS: 0,
    keepsFailures: false,
    silence: "ticket",
    recordAgeMaxS: 23 * 3_600,
    patterns: [
      { eventName: ["INSERT"], dynamodb: { Keys: { pk: { S: [{ prefix: entriesPk("") }] } } } },
      { eventName: ["MODIFY", "REMOVE"] },
    ],
  },
  /** As of attestations: what is left out has no copy, and `audit verify` names it. */
  copies: {
    id: "Copies",
    table: "audit",
    consumer: consumerOf("copies"),
    startingPosition: "TRIM_HORIZON",
    batchSize: 100,
    windowS: 0,
    keepsFailures: false,
    silence: "ticket",
    recordAgeMaxS: 23 * 3_600,
    patterns: [{ eventName: ["INSERT", "MODIFY"], dynamodb: { Keys: { pk: { S: [{ prefix: entriesPk("") }] } } } }],
  },
} as const satisfies Record<StreamName, StreamConsumerSpec>;

export type StreamConsumerSpec = {
  /** The id of its mapping and dead letters on AWS. */
  readonly id: string;
  readonly table: "ledger" | "audit";
  readonly consumer: FunctionName;
  /** Where a new mapping begins. */
  readonly startingPosition: "TRIM_HORIZON" | "LATEST";
  readonly batchSize: number;
  readonly windowS: number;
  /** What failed for `recordAgeMaxS` becomes a dead letter, and alarms notify before. */
  readonly keepsFailures: boolean;
  /** Urgency of an alarm that the stream is not polled; absent where people lose nothing by it. */
  readonly silence?: Urgency;
  readonly recordAgeMaxS: number;
  readonly patterns: readonly Pattern[];
};

/** A pattern of Lambda's event filters: nested objects match fields, and a list holds what matches. */
export type Pattern = { readonly [name: string]: Pattern | readonly (string | { readonly prefix: string })[] };
