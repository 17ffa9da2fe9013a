import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type _Record as StreamRecord,
} from "@aws-sdk/client-dynamodb-streams";
import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
} from "@aws-sdk/client-sqs";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import * as z from "zod";
import { queues } from "../../../infra/queues.ts";
import { streamConsumers } from "../../../infra/streams.ts";
import { deadLettersOf } from "../../../shared/platform/queue-names.ts";
import type { Invoke } from "../../../tools/local/functions.ts";
import { localClient } from "../../../tools/local/local-aws.ts";
import type { LocalQueues } from "../../../tools/local/queues.ts";
import { matchesPattern } from "../../../tools/local/stream-consumer.ts";
import type { MessageDelivery, StrictAws } from "./strict-aws.ts";

type QueueName = keyof typeof queues;

/** One change of a transaction's status in the ledger's stream. */
const statusChange = z.object({ pk: z.string(), status: z.string().optional() });
export type StatusChange = { readonly pk: string; readonly from: string | undefined; readonly to: string | undefined };

export type Concurrency = "sequential" | "concurrent";

/** The ledger's stream and the queues, which deliver only when a test says so. */
export type EventSources = {
  /**
   * Delivers everything that is visible, one record or message an invocation, until nothing is left; failed ones stay.
   * A queue's messages are delivered one after the other, or concurrently, as by many invocations.
   */
  readonly deliver: (concurrency?: Concurrency) => Promise<void>;
  /** How many messages the queues hold, visible or not. */
  readonly waiting: () => Promise<number>;
  readonly deadLetters: () => Promise<readonly string[]>;
  /** Every change of a transaction's status in the stream so far. */
  readonly changes: StatusChange[];
};

export const openEventSources = async (parts: {
  readonly sqs: LocalQueues;
  readonly dynamodb: string;
  readonly ledgerTable: string;
  readonly invoke: Invoke;
  /** How the queues deliver; undefined is each message once, in order. */
  readonly strict: () => StrictAws | undefined;
}): Promise<EventSources> => {
  const { sqs, invoke } = parts;
  const stream = await streamReader(parts.dynamodb, parts.ledgerTable);
  const changes: StatusChange[] = [];
  let pending: StreamRecord[] = [];

  const deliverChanges = async (): Promise<boolean> => {
    const fresh = await stream();
    changes.push(...fresh.flatMap(changeOf));
    pending.push(...fresh.filter(passesFilter));
    const given = pending;
    pending = [];
    for (const [position, record] of given.entries()) {
      try {
        const answer = await invoke(streamConsumers.webhooks.consumer, { Records: [record] });
        if (failuresOf(answer) === 0) continue;
      } catch {
        // The shard is read again from this record.
      }
      pending = given.slice(position);
      break;
    }
    return given.length > pending.length;
  };

  const deliverMessages = async (name: QueueName, concurrency: Concurrency): Promise<boolean> => {
    const { Messages = [] } = await sqs.client.send(
      new ReceiveMessageCommand({ QueueUrl: sqs.url(name), MaxNumberOfMessages: 10, WaitTimeSeconds: 0 }),
    );
    const done = new Set<Message>();
    const deliver = async (message: Message, messageDelivery: MessageDelivery): Promise<void> => {
      const answer = await invoke(queues[name].consumer, { Records: [recordOf(message)] }).catch(() => undefined);
      if (answer !== undefined && failuresOf(answer) === 0 && messageDelivery !== "again_later") done.add(message);
    };
    const strict = parts.strict();
    const deliveries = (strict?.ordered(Messages) ?? Messages).flatMap((message) => {
      const messageDelivery = strict?.messageDelivery() ?? "once";
      const times = messageDelivery === "later" ? 0 : messageDelivery === "twice" ? 2 : 1;
      return Array.from({ length: times }, () => () => deliver(message, messageDelivery));
    });
    if (concurrency === "concurrent") await Promise.all(deliveries.map((delivery) => delivery()));
    else for (const delivery of deliveries) await delivery();
    if (done.size > 0) await forget(name, [...done]);
    return Messages.length > 0;
  };

  const forget = async (name: QueueName, messages: readonly Message[]): Promise<void> => {
    const Entries = messages.map(({ ReceiptHandle }, position) => ({ Id: String(position), ReceiptHandle }));
    await sqs.client.send(new DeleteMessageBatchCommand({ QueueUrl: sqs.url(name), Entries }));
  };

  const waitingIn = async (name: QueueName): Promise<number> => {
    const { Attributes = {} } = await sqs.client.send(
      new GetQueueAttributesCommand({ QueueUrl: sqs.url(name), AttributeNames: ["All"] }),
    );
    return counts.reduce((total, count) => total + Number(Attributes[count] ?? 0), 0);
  };

  return {
    changes,
    deliver: async (concurrency = "sequential") => {
      for (;;) {
        const delivered = [
          await deliverChanges(),
          await deliverMessages("outcomes", concurrency),
          await deliverMessages("delivery", concurrency),
        ];
        if (!delivered.includes(true)) return;
      }
    },
    waiting: async () => pending.length + (await waitingIn("outcomes")) + (await waitingIn("delivery")),
    deadLetters: async () => {
      const read = Object.keys(queues).map((name) =>
        sqs.client.send(new ReceiveMessageCommand({ QueueUrl: sqs.url(deadLettersOf(name)), MaxNumberOfMessages: 10 })),
      );
      return (await Promise.all(read)).flatMap(({ Messages = [] }) => Messages.map(({ Body = "" }) => Body));
    },
  };
};

const counts = [
  "ApproximateNumberOfMessages",
  "ApproximateNumberOfMessagesNotVisible",
  "ApproximateNumberOfMessagesDelayed",
] as const;

const batchAnswer = z.object({ batchItemFailures: z.array(z.unknown()) });
const failuresOf = (answer: unknown): number => batchAnswer.parse(answer).batchItemFailures.length;

const recordOf = ({ MessageId: messageId, ReceiptHandle: receiptHandle, Body: body }: Message) => ({
  messageId,
  receiptHandle,
  body,
});

const changeOf = ({ dynamodb }: StreamRecord): StatusChange[] => {
  const read = (image: NonNullable<StreamRecord["dynamodb"]>["NewImage"]) =>
    statusChange.safeParse(image && unmarshall(image)).data;
  const [before, after] = [read(dynamodb?.OldImage), read(dynamodb?.NewImage)];
  const pk = after?.pk ?? before?.pk ?? "";
  if (!pk.startsWith("transaction#") || before?.status === after?.status) return [];
  return [{ pk, from: before?.status, to: after?.status }];
};

const passesFilter = (record: StreamRecord): boolean =>
  streamConsumers.webhooks.patterns.some((pattern) => matchesPattern(pattern, record));

/** A page with fewer records is the last one for now. */
const PAGE_RECORDS = 1_000;

/** Reads a table's stream from its beginning; each call returns the records since the one before. */
const streamReader = async (endpoint: string, table: string): Promise<() => Promise<StreamRecord[]>> => {
  const client = new DynamoDBStreamsClient(localClient(endpoint));
  const { Table } = await new DynamoDBClient(localClient(endpoint)).send(
    new DescribeTableCommand({ TableName: table }),
  );
  const StreamArn = Table?.LatestStreamArn;
  const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }));
  const ShardId = StreamDescription?.Shards?.[0]?.ShardId;
  const beginning = { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" } as const;
  let { ShardIterator: iterator } = await client.send(new GetShardIteratorCommand(beginning));
  return async () => {
    const all: StreamRecord[] = [];
    for (;;) {
      const command = new GetRecordsCommand({ ShardIterator: iterator, Limit: PAGE_RECORDS });
      const { Records = [], NextShardIterator } = await client.send(command);
      iterator = NextShardIterator;
      all.push(...Records);
      if (Records.length < PAGE_RECORDS) return all;
    }
  };
};
