import { createHash } from "node:crypto";
import type { _Record } from "@aws-sdk/client-dynamodb-streams";
import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import * as z from "#zod";
import { queues } from "../../../infra/queues.ts";
import { streamConsumers } from "../../../infra/streams.ts";
import { isTransactionPk } from "../../../shared/ledger/schema.ts";
import { transactionSchema } from "../../../shared/ledger/transaction.ts";
import { stateOf, type TransactionState } from "../../../shared/ledger/transaction-state.ts";
import { deadLettersOf } from "../../../shared/platform/queue-names.ts";
import type { Invoke } from "../../../tools/local/functions.ts";
import type { LocalQueues } from "../../../tools/local/queues.ts";
import { matchesPattern } from "../../../tools/local/stream-consumer.ts";
import type { Forward } from "../../strict/wire.ts";
import { catchUp, now, outside } from "./clock.ts";
import { meet } from "./realities.ts";
import type { StrictAws } from "./strict-aws.ts";

type QueueName = keyof typeof queues;

/** As it is sent, with a time that is no Date. */
type StreamRecord = {
  readonly dynamodb?: Omit<NonNullable<_Record["dynamodb"]>, "ApproximateCreationDateTime">;
};

/** One change of a transaction's state in the ledger's stream; undefined where there is no transaction. */
export type StateChange = {
  readonly pk: string;
  readonly from: TransactionState | undefined;
  readonly to: TransactionState | undefined;
};
const storedState = z.pipe(
  z.pick(transactionSchema, { status: true, queued: true, claim: true }),
  z.transform(stateOf),
);

export type Concurrency = "sequential" | "concurrent";

/** The ledger's stream and the queues, which deliver only when a test says so. */
export type EventSources = {
  /**
   * Delivers everything that is visible, one record or message an invocation, until nothing is left; failed ones stay.
   * A queue's messages are delivered one after the other, or concurrently, as by many invocations.
   */
  readonly deliver: (concurrency?: Concurrency) => Promise<void>;
  /**
   * Polls once, as Lambda does all the time: hands over what is there, in batches, and does not wait. Each shard of the
   * stream has one batch at a time under way for each consumer.
   */
  readonly poll: () => Promise<void>;
  /** Resolves when what the polls handed over has ended. */
  readonly polled: () => Promise<void>;
  /** The stream's shards are split into `shards` others, which are read after them. */
  readonly reshard: (shards: number) => void;
  /** A consumer is removed and added again: it begins where infra/streams.ts says. */
  readonly addAgain: (consumer: ConsumerName) => void;
  /** DynamoDB removes the changes that no consumer has handled, after 24 hours. */
  readonly trimHorizon: () => Promise<void>;
  /** How many messages the queues hold, visible or not. */
  readonly waiting: () => number;
  readonly deadLetters: () => Promise<readonly string[]>;
  /** Every change of a transaction's state in the stream so far. */
  readonly changes: StateChange[];
};

/** A message as the queue gives it; it is given again if it is not forgotten. */
type GivenMessage = { readonly message: Message; readonly isForgotten: boolean };

/** The age of the oldest message or change that was not handled, as CloudWatch has it. */
export type Sample = { readonly atMs: number; readonly oldestMs: number } & (
  | { readonly kind: "queue"; readonly name: QueueName; readonly messages: number; readonly deadLetters: number }
  | { readonly kind: "stream"; readonly name: ConsumerName }
);

/** The consumers of the ledger. */
type ConsumerName = Exclude<keyof typeof streamConsumers, "attestations" | "copies">;
/** What a consumer has still to get from one shard, oldest first. */
type Shard = { readonly pending: StreamRecord[]; isBusy: boolean };

export const openEventSources = async (parts: {
  readonly sqs: LocalQueues;
  readonly dynamodb: Forward;
  /** The same emulator's streams. */
  readonly streams: Forward;
  readonly ledgerTable: string;
  readonly invoke: Invoke;
  /** How the queues deliver; undefined is each message once, in order. */
  readonly strict: () => StrictAws | undefined;
  /** Takes what is measured each minute while the sources are polled. */
  readonly note: (sample: Sample) => void;
}): Promise<EventSources> => {
  const { sqs, invoke } = parts;
  const stream = await streamReader(parts.dynamodb, parts.streams, parts.ledgerTable);
  const changes: StateChange[] = [];
  const records: StreamRecord[] = [];
  /** When a change was seen first: the emulator's own time is not simulated. */
  const readMs = new WeakMap<StreamRecord, number>();
  let shardCount = 1;
  /** Older shards first: a shard is read once those before it are empty. */
  const shards: Record<ConsumerName, Shard[][]> = { webhooks: [[]], statistics: [[]] };
  const underWay = new Set<Promise<void>>();
  /** The messages that were received and are not deleted yet. */
  const unhandled = new Map<string, { readonly name: QueueName; readonly sentMs: number }>();
  let sampledMs = now();

  const begin = (work: Promise<void>): void => {
    const tracked = work.finally(() => underWay.delete(tracked));
    underWay.add(tracked);
  };

  const hand = (consumer: ConsumerName, record: StreamRecord): void => {
    if (!streamConsumers[consumer].patterns.some((pattern) => matchesPattern(pattern, record))) return;
    const newest = shards[consumer].at(-1) ?? [];
    const index = shardOf(record, shardCount);
    newest[index] ??= { pending: [], isBusy: false };
    newest[index].pending.push(record);
  };

  const readStream = async (): Promise<void> => {
    const fresh = await outside(stream);
    changes.push(...fresh.flatMap(changeOf));
    records.push(...fresh);
    for (const record of fresh) {
      readMs.set(record, now());
      for (const name of consumerNames) hand(name, record);
    }
  };

  /** The shards that a consumer may read now. */
  const readable = (consumer: ConsumerName): readonly Shard[] => {
    const generations = shards[consumer];
    while (generations.length > 1 && generations[0]?.every(({ pending }) => pending.length === 0)) generations.shift();
    return generations[0]?.filter((shard) => shard !== undefined) ?? [];
  };

  /** Delivers a batch of a shard. What follows the first failure stays. */
  const deliverBatch = async (
    consumer: ConsumerName,
    shard: Shard,
    count: number,
    copies: number,
  ): Promise<boolean> => {
    const batch = shard.pending.slice(0, count);
    if (batch.length === 0) return false;
    shard.isBusy = true;
    const event = { Records: batch };
    const copy = (): Promise<number> =>
      invoke(streamConsumers[consumer].consumer, event).then(
        (answer) => batch.length - firstFailure(batch, answer),
        () => batch.length,
      );
    const [left = 0] = await Promise.all(Array.from({ length: copies }, copy));
    shard.pending.splice(0, batch.length - left);
    shard.isBusy = false;
    return left === 0;
  };

  const deliverChanges = async (): Promise<boolean> => {
    await readStream();
    let delivered = false;
    for (const shard of readable("webhooks")) {
      while (await deliverBatch("webhooks", shard, 1, 1)) delivered = true;
    }
    return delivered;
  };

  const receive = async (name: QueueName): Promise<readonly Message[]> => {
    if (sqs.messages(name).visible === 0) return [];
    const command = new ReceiveMessageCommand({
      QueueUrl: sqs.url(name),
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: 0,
      MessageSystemAttributeNames: ["SentTimestamp"],
    });
    const { Messages = [] } = await outside(() => sqs.client.send(command));
    for (const { MessageId = "", Attributes } of Messages) {
      unhandled.set(MessageId, { name, sentMs: Number(Attributes?.SentTimestamp ?? now()) });
    }
    return Messages;
  };

  /** Delivers messages in one batch. Returns those that were handled, and that the queue forgets. */
  const deliverTogether = async (name: QueueName, messages: readonly Message[]): Promise<readonly Message[]> => {
    const answer = await invoke(queues[name].consumer, { Records: messages.map(recordOf) }).catch(() => undefined);
    if (answer === undefined) return [];
    const failed = new Set(batchAnswer.parse(answer).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    return messages.filter(({ MessageId = "" }) => !failed.has(MessageId));
  };

  /** The messages as often and in the order as the queue gives them. */
  const given = (messages: readonly Message[]): readonly GivenMessage[] => {
    const strict = parts.strict();
    return (strict?.ordered(messages) ?? messages).flatMap((message) => {
      const messageDelivery = strict?.messageDelivery() ?? "once";
      const length = messageDelivery === "later" ? 0 : messageDelivery === "twice" ? 2 : 1;
      return Array.from({ length }, () => ({ message, isForgotten: messageDelivery !== "again_later" }));
    });
  };

  const deliverMessages = async (name: QueueName, concurrency: Concurrency): Promise<boolean> => {
    const messages = await receive(name);
    const done = new Set<Message>();
    const deliveries = given(messages).map(({ message, isForgotten }) => async (): Promise<void> => {
      const handled = await deliverTogether(name, [message]);
      if (handled.length > 0 && isForgotten) done.add(message);
    });
    if (concurrency === "concurrent") await Promise.all(deliveries.map((delivery) => delivery()));
    else for (const delivery of deliveries) await delivery();
    await forget(name, [...done]);
    return messages.length > 0;
  };

  const forget = async (name: QueueName, messages: readonly Message[]): Promise<void> => {
    if (messages.length === 0) return;
    for (const { MessageId = "" } of messages) unhandled.delete(MessageId);
    const Entries = messages.map(({ ReceiptHandle }, position) => ({ Id: String(position), ReceiptHandle }));
    await outside(() => sqs.client.send(new DeleteMessageBatchCommand({ QueueUrl: sqs.url(name), Entries })));
  };

  const handleBatch = async (name: QueueName, batch: readonly GivenMessage[]): Promise<void> => {
    const handled = await deliverTogether(
      name,
      batch.map(({ message }) => message),
    );
    const done = batch.filter(({ message, isForgotten }) => isForgotten && handled.includes(message));
    await forget(
      name,
      done.map(({ message }) => message),
    );
  };

  const pollQueue = async (name: QueueName): Promise<void> => {
    const messages = given(await receive(name));
    const seen = new Set<Message>();
    const [first, second]: [GivenMessage[], GivenMessage[]] = [[], []];
    for (const each of messages) {
      (seen.has(each.message) ? second : first).push(each);
      seen.add(each.message);
    }
    if (second.length > 0) meet("both copies of a message in work at once");
    for (const copies of [second, first]) {
      for (let start = 0; start < copies.length; start += queues[name].batchSize) {
        begin(handleBatch(name, copies.slice(start, start + queues[name].batchSize)));
      }
    }
  };

  const ageMs = (sinceMs: readonly number[]): number => Math.max(0, ...sinceMs.map((since) => now() - since));
  /** What CloudWatch measures each minute. */
  const sample = (): void => {
    sampledMs = now();
    for (const name of queueNames) {
      const oldestMs = ageMs([...unhandled.values()].filter((one) => one.name === name).map(({ sentMs }) => sentMs));
      const [messages, deadLetters] = [sqs.messages(name).all, sqs.messages(deadLettersOf(name)).all];
      parts.note({ atMs: now(), kind: "queue", name, oldestMs, messages, deadLetters });
    }
    for (const name of consumerNames) {
      const pending = shards[name].flat().flatMap((shard) => shard?.pending ?? []);
      const oldestMs = ageMs(pending.map((record) => readMs.get(record) ?? now()));
      parts.note({ atMs: now(), kind: "stream", name, oldestMs });
    }
  };

  return {
    changes,
    deliver: async (concurrency = "sequential") => {
      await catchUp();
      for (;;) {
        const delivered = [
          await deliverChanges(),
          await deliverMessages("outcomes", concurrency),
          await deliverMessages("delivery", concurrency),
        ];
        if (!delivered.includes(true)) return;
      }
    },
    poll: async () => {
      if (now() - sampledMs >= SAMPLE_MS) sample();
      await readStream();
      for (const name of consumerNames) {
        for (const shard of readable(name)) {
          if (shard.isBusy) continue;
          // A shard may have two readers for a while.
          const copies = parts.strict()?.messageDelivery() === "twice" ? 2 : 1;
          if (copies > 1 && shard.pending.length > 0) meet("two readers of a shard");
          begin(deliverBatch(name, shard, streamConsumers[name].batchSize, copies).then(() => {}));
        }
      }
      await pollQueue("outcomes");
      await pollQueue("delivery");
    },
    polled: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
    reshard: (count) => {
      meet("resharding");
      shardCount = count;
      for (const name of consumerNames) shards[name].push([]);
    },
    trimHorizon: async () => {
      await readStream();
      for (const shard of Object.values(shards).flat(2)) shard?.pending.splice(0);
    },
    addAgain: (name) => {
      meet("a consumer that is added again");
      shards[name] = [[]];
      if (streamConsumers[name].startingPosition === "LATEST") return;
      for (const record of records) hand(name, record);
    },
    waiting: () => {
      const pending = shards.webhooks.flat().flatMap((shard) => shard?.pending ?? []).length;
      return pending + sqs.messages("outcomes").all + sqs.messages("delivery").all;
    },
    deadLetters: async () => {
      const read = queueNames
        .filter((name) => sqs.messages(deadLettersOf(name)).visible > 0)
        .map((name) =>
          sqs.client.send(
            new ReceiveMessageCommand({ QueueUrl: sqs.url(deadLettersOf(name)), MaxNumberOfMessages: 10 }),
          ),
        );
      return (await Promise.all(read)).flatMap(({ Messages = [] }) => Messages.map(({ Body = "" }) => Body));
    },
  };
};

const SAMPLE_MS = 60_000;
const queueNames = ["outcomes", "delivery"] as const satisfies readonly QueueName[];
const consumerNames = ["webhooks", "statistics"] as const satisfies readonly ConsumerName[];

/** All changes of one item are in one shard. */
const shardOf = ({ dynamodb }: StreamRecord, count: number): number =>
  Number.parseInt(createHash("sha256").update(JSON.stringify(dynamodb?.Keys)).digest("hex").slice(0, 8), 16) % count;

const batchAnswer = z.object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })) });

/** The place in a batch from which on it must be repeated. A consumer that answers nothing took all of it. */
const firstFailure = (batch: readonly StreamRecord[], answer: unknown): number => {
  const failed = new Set(batchAnswer.safeParse(answer).data?.batchItemFailures.map((each) => each.itemIdentifier));
  const first = batch.findIndex(({ dynamodb }) => failed.has(dynamodb?.SequenceNumber ?? ""));
  return first < 0 ? batch.length : first;
};

const recordOf = ({ MessageId: messageId, ReceiptHandle: receiptHandle, Body: body }: Message) => ({
  messageId,
  receiptHandle,
  body,
});

const changeOf = ({ dynamodb }: StreamRecord): StateChange[] => {
  const pk = dynamodb?.Keys?.pk?.S ?? "";
  if (!isTransactionPk(pk)) return [];
  const read = (image: NonNullable<StreamRecord["dynamodb"]>["NewImage"]) =>
    image && storedState.parse(unmarshall(image));
  const [from, to] = [read(dynamodb?.OldImage), read(dynamodb?.NewImage)];
  return from === to ? [] : [{ pk, from, to }];
};

/** A page with fewer records is the last one for now. */
const PAGE_RECORDS = 1_000;

const streamArn = z.object({ Table: z.object({ LatestStreamArn: z.string() }) });
const streamShard = z.object({
  StreamDescription: z.object({ Shards: z.array(z.object({ ShardId: z.string() })).check(z.length(1)) }),
});
const shardIterator = z.object({ ShardIterator: z.string() });
const streamPage = z.object({ Records: z.array(z.custom<StreamRecord>()), NextShardIterator: z.string() });

/** Reads a table's stream from its beginning; each call returns the records since the one before. */
const streamReader = async (
  dynamodb: Forward,
  streams: Forward,
  table: string,
): Promise<() => Promise<StreamRecord[]>> => {
  const ask = async <Answer>(forward: Forward, operation: string, request: unknown, answer: z.ZodMiniType<Answer>) =>
    answer.parse(JSON.parse((await forward(operation, JSON.stringify(request))).body));
  const { Table } = await ask(dynamodb, "DescribeTable", { TableName: table }, streamArn);
  const StreamArn = Table.LatestStreamArn;
  const { StreamDescription } = await ask(streams, "DescribeStream", { StreamArn }, streamShard);
  const ShardId = StreamDescription.Shards[0]?.ShardId;
  const beginning = { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" } as const;
  let { ShardIterator: iterator } = await ask(streams, "GetShardIterator", beginning, shardIterator);
  return async () => {
    const all: StreamRecord[] = [];
    for (;;) {
      const request = { ShardIterator: iterator, Limit: PAGE_RECORDS };
      const { Records, NextShardIterator } = await ask(streams, "GetRecords", request, streamPage);
      iterator = NextShardIterator;
      all.push(...Records);
      if (Records.length < PAGE_RECORDS) return all;
    }
  };
};
