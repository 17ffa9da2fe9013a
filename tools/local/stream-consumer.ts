import { setTimeout as pause } from "node:timers/promises";
import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type Shard,
  type _Record as StreamRecord,
} from "@aws-sdk/client-dynamodb-streams";
import * as z from "#zod";
import type { Pattern, StreamConsumerSpec } from "../../infra/streams.ts";
import { errorFields } from "../../shared/platform/log.ts";
import { sleep } from "../../shared/platform/time.ts";
import type { Invoke } from "./functions.ts";
import { failedOf } from "./invoke-batch.ts";
import { readJsonFile, writeJsonFile } from "./json-file.ts";
import { pollingClient, REGION } from "./local-aws.ts";
import { localLog } from "./local-log.ts";

const NO_SHARD_MS = 200;
const PAUSE_AFTER_ERROR_MS = 500;
const ANSWER_MS_MAX = 10_000;
const STOP_MS_MAX = 2_000;

/**
 * How far a stream was consumed. It is written after the changes were handled, so a crash repeats changes and skips
 * none.
 */
const checkpointFile = z.object({ stream: z.string(), shard: z.string(), sequence: z.optional(z.string()) });
type StreamCheckpoint = z.infer<typeof checkpointFile>;
/** Without a sequence number a shard is read from its beginning, or from its end. */
type StreamPosition = StreamCheckpoint & { readonly from?: StreamConsumerSpec["startingPosition"] };

/**
 * Lambda's event source mapping of a table's stream: invokes a function with the changes that match a pattern, in
 * order, and retries from the first that failed. A failed change that is too old is skipped; on AWS it becomes a dead
 * letter.
 */
export const consumeStream = (options: {
  readonly endpoint: string;
  readonly table: string;
  /** Where it begins without a checkpoint. */
  readonly startingPosition: StreamConsumerSpec["startingPosition"];
  readonly batchSize: number;
  /** Between two polls, unless the first has a full batch. */
  readonly pollMs: number;
  readonly recordAgeMaxS: number;
  readonly patterns: readonly Pattern[];
  readonly functionName: string;
  readonly invoke: Invoke;
  readonly checkpointPath: string;
  /** How long a call of the emulator may go without an answer. */
  readonly answerMs?: number;
}) => {
  const { endpoint, table, startingPosition, batchSize, pollMs, recordAgeMaxS, patterns } = options;
  const { functionName, checkpointPath } = options;
  const ready = Promise.withResolvers<void>();
  const polling = pollingClient(endpoint, options.answerMs ?? ANSWER_MS_MAX);
  const tablesClient = new DynamoDBClient(polling);
  const client = new DynamoDBStreamsClient(polling);
  const stopping = new AbortController();
  const abort = { abortSignal: stopping.signal };

  /** The checkpoint; or the beginning or the end of the stream, if the checkpoint is of another stream. */
  const startingPoint = async (): Promise<StreamPosition | undefined> => {
    const { Table } = await tablesClient.send(new DescribeTableCommand({ TableName: table }), abort);
    const stream = Table?.LatestStreamArn ?? "";
    const stored = readJsonFile(checkpointPath, checkpointFile);
    const shards = await shardsOf(stream);
    if (stored?.stream === stream && shards.some(({ ShardId }) => ShardId === stored.shard)) return stored;
    const shard = shards.at(startingPosition === "LATEST" ? -1 : 0)?.ShardId;
    return shard === undefined ? undefined : { stream, shard, from: startingPosition };
  };

  const shardsOf = async (stream: string): Promise<readonly Shard[]> => {
    const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn: stream }), abort);
    return StreamDescription?.Shards ?? [];
  };

  const iteratorAt = async ({
    stream,
    shard,
    sequence,
    from = "TRIM_HORIZON",
  }: StreamPosition): Promise<string | undefined> => {
    const { ShardIterator } = await client.send(
      new GetShardIteratorCommand({
        StreamArn: stream,
        ShardId: shard,
        ...(sequence === undefined
          ? { ShardIteratorType: from }
          : { ShardIteratorType: "AFTER_SEQUENCE_NUMBER", SequenceNumber: sequence }),
      }),
      abort,
    );
    return ShardIterator;
  };

  const isTooOld = ({ dynamodb }: StreamRecord): boolean => {
    const createdMs = dynamodb?.ApproximateCreationDateTime?.getTime();
    return createdMs !== undefined && Date.now() - createdMs > recordAgeMaxS * 1_000;
  };

  /** The sequence number up to which everything is handled; undefined if the first change failed. */
  const handle = async (records: readonly StreamRecord[], stream: string): Promise<string | undefined> => {
    const sequences = records.map(sequenceOf);
    const matching = records
      .map((record) => eventRecord(record, stream))
      .filter((record) => patterns.some((pattern) => matchesPattern(pattern, record)));
    const failed =
      matching.length === 0 ? new Set() : await failedOf(options, matching, ({ dynamodb }) => dynamodb.SequenceNumber);
    const first = sequences.findIndex((sequence) => failed.has(sequence));
    if (first < 0) return sequences.at(-1);
    const failure = records[first];
    if (failure === undefined || !isTooOld(failure)) return sequences[first - 1];
    localLog.error("stream.given_up", { function: functionName, sequence_number: sequenceOf(failure) });
    return sequenceOf(failure);
  };

  /** Consumes one shard until its end. */
  const consumeShard = async (start: StreamPosition): Promise<StreamCheckpoint> => {
    let checkpoint = start;
    let iterator = await iteratorAt(checkpoint);
    ready.resolve();
    while (iterator !== undefined) {
      const page = await client.send(new GetRecordsCommand({ ShardIterator: iterator, Limit: batchSize }), abort);
      const { Records = [], NextShardIterator } = page;
      iterator = NextShardIterator;
      const last = Records.map(sequenceOf).at(-1);
      const handled = last === undefined ? undefined : await handle(Records, checkpoint.stream);
      if (handled !== undefined) {
        checkpoint = { ...checkpoint, sequence: handled };
        writeJsonFile(checkpointPath, checkpoint);
      }
      if (handled !== last) {
        await sleep(PAUSE_AFTER_ERROR_MS);
        iterator = await iteratorAt(checkpoint);
      } else if (iterator !== undefined && Records.length < batchSize) {
        await pause(pollMs, undefined, { signal: stopping.signal });
      }
    }
    return checkpoint;
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        const start = await startingPoint();
        if (start === undefined) {
          await sleep(NO_SHARD_MS);
          continue;
        }
        const end = await consumeShard(start);
        const next = (await shardsOf(end.stream)).find(({ ParentShardId }) => ParentShardId === end.shard)?.ShardId;
        if (next === undefined) await sleep(NO_SHARD_MS);
        else writeJsonFile(checkpointPath, { stream: end.stream, shard: next });
      } catch (error) {
        if (stopping.signal.aborted) return;
        localLog.error("stream.unreadable", { table, ...errorFields(error) });
        await sleep(PAUSE_AFTER_ERROR_MS);
      }
    }
  };

  const running = run();
  return {
    /** From then on no change is missed. */
    ready: ready.promise,
    stop: async () => {
      stopping.abort();
      await Promise.race([running, sleep(STOP_MS_MAX)]);
      client.destroy();
      tablesClient.destroy();
    },
  };
};

const sequenceOf = (record: StreamRecord): string => record.dynamodb?.SequenceNumber ?? "";

/** A change as the function receives it. Source: AWS, "Using AWS Lambda with Amazon DynamoDB". */
const eventRecord = (record: StreamRecord, stream: string) => ({
  ...record,
  awsRegion: REGION,
  eventSourceARN: stream,
  dynamodb: {
    ...record.dynamodb,
    ...asJson({
      Keys: record.dynamodb?.Keys,
      NewImage: record.dynamodb?.NewImage,
      OldImage: record.dynamodb?.OldImage,
    }),
    ApproximateCreationDateTime: (record.dynamodb?.ApproximateCreationDateTime?.getTime() ?? 0) / 1_000,
    SequenceNumber: sequenceOf(record),
  },
});

const jsonObject = z.record(z.string(), z.unknown());

/** Binary values are Base64 in an event. */
const asJson = (change: unknown): Record<string, unknown> =>
  jsonObject.parse(
    JSON.parse(
      JSON.stringify(change ?? {}, (_name, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
      ),
    ),
  );

/** Whether a record passes one of Lambda's event filters, or a part of it passes the same part of the filter. */
export const matchesPattern = (pattern: Pattern[string], value: unknown): boolean => {
  if (isList(pattern)) return typeof value === "string" && pattern.some((part) => matchesText(part, value));
  const fields = jsonObject.safeParse(value).data;
  return fields !== undefined && Object.entries(pattern).every(([name, part]) => matchesPattern(part, fields[name]));
};

type ListedPart = string | { readonly prefix: string };
const matchesText = (part: ListedPart, text: string): boolean =>
  typeof part === "string" ? part === text : text.startsWith(part.prefix);

const isList = (pattern: Pattern[string]): pattern is readonly ListedPart[] => Array.isArray(pattern);
