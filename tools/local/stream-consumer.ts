import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type Shard,
  type _Record as StreamRecord,
} from "@aws-sdk/client-dynamodb-streams";
import * as z from "zod";
import { errorFields } from "../../shared/platform/log.ts";
import { sleep } from "../../shared/platform/time.ts";
import type { Invoke } from "./functions.ts";
import { readJsonFile, writeJsonFile } from "./json-file.ts";
import { localClient, REGION } from "./local-aws.ts";
import { localLog } from "./local-log.ts";

const IDLE_MS = 200;
const PAUSE_AFTER_ERROR_MS = 500;
const STOP_MS_MAX = 2_000;

/** A pattern of Lambda's event filters: objects go down, a list holds the values that may stand there. */
export type Pattern = { readonly [name: string]: Pattern | readonly string[] };

/** How far a stream was read. It is written after what it stands for was handled, so that a crash repeats and never skips. */
const checkpointFile = z.object({ stream: z.string(), shard: z.string(), sequence: z.string().optional() });
type Checkpoint = z.infer<typeof checkpointFile>;

const streamAnswer = z
  .object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })).nullish() })
  .nullish();

export type StreamConsumer = { readonly stop: () => Promise<void> };

/**
 * Lambda's event source mapping for a table's stream: hands the changes that fit the pattern to a function, in order, and goes on
 * from the first that failed. One that fails and is too old is left out, as on AWS, where it goes to the function's dead letters.
 */
export const consumeStream = (options: {
  readonly endpoint: string;
  readonly table: string;
  readonly batchSize: number;
  readonly recordAgeMaxS: number;
  readonly pattern: Pattern;
  readonly functionName: string;
  readonly invoke: Invoke;
  /** Where it is kept how far the stream was read. */
  readonly checkpointPath: string;
}): StreamConsumer => {
  const { endpoint, table, batchSize, recordAgeMaxS, pattern, functionName, invoke, checkpointPath } = options;
  const tablesClient = new DynamoDBClient(localClient(endpoint));
  const client = new DynamoDBStreamsClient(localClient(endpoint));
  const stopping = new AbortController();
  const abort = { abortSignal: stopping.signal };

  /** Where reading begins: after the checkpoint, or at the stream's beginning where it is another stream's. */
  const begin = async (): Promise<Checkpoint | undefined> => {
    const { Table } = await tablesClient.send(new DescribeTableCommand({ TableName: table }), abort);
    const stream = Table?.LatestStreamArn ?? "";
    const kept = readJsonFile(checkpointPath, checkpointFile);
    const shards = await shardsOf(stream);
    if (kept?.stream === stream && shards.some(({ ShardId }) => ShardId === kept.shard)) return kept;
    const oldest = shards[0]?.ShardId;
    return oldest === undefined ? undefined : { stream, shard: oldest };
  };

  const shardsOf = async (stream: string): Promise<readonly Shard[]> => {
    const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn: stream }), abort);
    return StreamDescription?.Shards ?? [];
  };

  const iteratorAt = async ({ stream, shard, sequence }: Checkpoint): Promise<string | undefined> => {
    const { ShardIterator } = await client.send(
      new GetShardIteratorCommand({
        StreamArn: stream,
        ShardId: shard,
        ...(sequence === undefined
          ? { ShardIteratorType: "TRIM_HORIZON" }
          : { ShardIteratorType: "AFTER_SEQUENCE_NUMBER", SequenceNumber: sequence }),
      }),
      abort,
    );
    return ShardIterator;
  };

  const isGivenUp = ({ dynamodb }: StreamRecord): boolean => {
    const createdMs = dynamodb?.ApproximateCreationDateTime?.getTime();
    return createdMs !== undefined && Date.now() - createdMs > recordAgeMaxS * 1_000;
  };

  /** Resolves with the sequence number up to which everything was handled; undefined where not even the first was. */
  const handle = async (records: readonly StreamRecord[], stream: string): Promise<string | undefined> => {
    const sequences = records.map(sequenceOf);
    const chosen = records.map((record) => eventRecord(record, stream)).filter((record) => fits(pattern, record));
    const failed = chosen.length === 0 ? [] : await failedOf(chosen);
    const first = sequences.findIndex((sequence) => failed.includes(sequence));
    if (first < 0) return sequences.at(-1);
    const failure = records[first];
    if (failure === undefined || !isGivenUp(failure)) return sequences[first - 1];
    localLog.error("stream.given_up", { function: functionName, sequence_number: sequenceOf(failure) });
    return sequenceOf(failure);
  };

  const failedOf = async (records: readonly EventRecord[]): Promise<readonly string[]> => {
    const given = records.map(({ dynamodb }) => dynamodb.SequenceNumber);
    try {
      const answer = streamAnswer.parse(await invoke(functionName, { Records: records }));
      return answer?.batchItemFailures?.map(({ itemIdentifier }) => itemIdentifier) ?? [];
    } catch (error) {
      localLog.error("invocation.failed", { function: functionName, ...errorFields(error) });
      return given;
    }
  };

  /** Reads one shard until it is closed and read, or until something goes wrong. */
  const readShard = async (start: Checkpoint): Promise<Checkpoint> => {
    let at = start;
    let iterator = await iteratorAt(at);
    while (iterator !== undefined) {
      const answer = await client.send(new GetRecordsCommand({ ShardIterator: iterator, Limit: batchSize }), abort);
      const { Records = [], NextShardIterator } = answer;
      iterator = NextShardIterator;
      if (Records.length === 0) {
        if (iterator !== undefined) await sleep(IDLE_MS);
        continue;
      }
      const handled = await handle(Records, at.stream);
      if (handled !== undefined) {
        at = { ...at, sequence: handled };
        writeJsonFile(checkpointPath, at);
      }
      if (handled !== Records.map(sequenceOf).at(-1)) {
        await sleep(PAUSE_AFTER_ERROR_MS);
        iterator = await iteratorAt(at);
      }
    }
    return at;
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        const start = await begin();
        if (start === undefined) {
          await sleep(IDLE_MS);
          continue;
        }
        const end = await readShard(start);
        const next = (await shardsOf(end.stream)).find(({ ParentShardId }) => ParentShardId === end.shard)?.ShardId;
        if (next === undefined) await sleep(IDLE_MS);
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
    stop: async () => {
      stopping.abort();
      await Promise.race([running, sleep(STOP_MS_MAX)]);
      client.destroy();
      tablesClient.destroy();
    },
  };
};

const sequenceOf = (record: StreamRecord): string => record.dynamodb?.SequenceNumber ?? "";

type EventRecord = {
  readonly dynamodb: { readonly SequenceNumber: string; readonly [name: string]: unknown };
  readonly [name: string]: unknown;
};

/** One change of the event. Source: AWS, "Using AWS Lambda with Amazon DynamoDB". */
const eventRecord = (record: StreamRecord, stream: string): EventRecord => ({
  ...record,
  awsRegion: REGION,
  eventSourceARN: stream,
  dynamodb: {
    ...record.dynamodb,
    ...inJson({
      Keys: record.dynamodb?.Keys,
      NewImage: record.dynamodb?.NewImage,
      OldImage: record.dynamodb?.OldImage,
    }),
    ApproximateCreationDateTime: (record.dynamodb?.ApproximateCreationDateTime?.getTime() ?? 0) / 1_000,
    SequenceNumber: sequenceOf(record),
  },
});

const jsonObject = z.record(z.string(), z.unknown());

/** Bytes are Base64 in an event. */
const inJson = (change: unknown): Record<string, unknown> =>
  jsonObject.parse(
    JSON.parse(
      JSON.stringify(change ?? {}, (_name, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
      ),
    ),
  );

const fits = (pattern: Pattern | readonly string[], value: unknown): boolean => {
  if (isList(pattern)) return typeof value === "string" && pattern.includes(value);
  const fields = jsonObject.safeParse(value).data;
  return fields !== undefined && Object.entries(pattern).every(([name, part]) => fits(part, fields[name]));
};

const isList = (pattern: Pattern | readonly string[]): pattern is readonly string[] => Array.isArray(pattern);
