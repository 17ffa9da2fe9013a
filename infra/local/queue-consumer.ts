import {
  DeleteMessageBatchCommand,
  type Message,
  type MessageAttributeValue,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { SQSMessageAttributes, SQSRecord } from "aws-lambda";
import * as z from "zod";
import { errorFields, log } from "../../shared/platform/log.ts";
import { sleep } from "../../shared/platform/time.ts";
import type { Invoke } from "./functions.ts";
import { REGION } from "./local-aws.ts";
import { queueArn } from "./queues.ts";

/** Batches at work at the same time; AWS begins with as many. */
const BATCHES_MAX = 5;
/** Messages at work at the same time where each is a batch of its own: a slow one must not hold up the others. */
const SINGLES_MAX = 10;
const LONG_POLL_S = 20;
const PAUSE_AFTER_ERROR_MS = 1_000;
const STOP_MS_MAX = 2_000;

/** A function's answer to a batch. Nothing at all means that every message succeeded. */
const batchAnswer = z
  .object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string().min(1) })).nullish() })
  .nullish();

export type QueueConsumer = { readonly stop: () => Promise<void> };

/**
 * Lambda's event source mapping: hands a queue's messages to a function, deletes those that succeeded, and leaves the others to
 * come back when their visibility timeout ends. All failed when the function throws or names a message that it was not given.
 */
export const consumeQueue = (options: {
  readonly client: SQSClient;
  readonly queueName: string;
  readonly queueUrl: string;
  readonly batchSize: number;
  readonly functionName: string;
  readonly invoke: Invoke;
}): QueueConsumer => {
  const { client, queueName, queueUrl, batchSize, functionName, invoke } = options;
  const stopping = new AbortController();

  const receive = async (): Promise<Message[]> => {
    const command = new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: batchSize,
      WaitTimeSeconds: LONG_POLL_S,
      MessageSystemAttributeNames: ["All"],
      MessageAttributeNames: ["All"],
    });
    const { Messages = [] } = await client.send(command, { abortSignal: stopping.signal });
    return Messages;
  };

  const handle = async (messages: readonly Message[]): Promise<void> => {
    const records = messages.map((message) => recordOf(message, queueName));
    const failed = await failedOf(records);
    const done = records.filter((record) => !failed.has(record.messageId));
    if (done.length === 0) return;
    await client.send(
      new DeleteMessageBatchCommand({
        QueueUrl: queueUrl,
        Entries: done.map(({ receiptHandle }, position) => ({ Id: String(position), ReceiptHandle: receiptHandle })),
      }),
    );
  };

  const failedOf = async (records: readonly SQSRecord[]): Promise<ReadonlySet<string>> => {
    const given = new Set(records.map((record) => record.messageId));
    try {
      const answer = batchAnswer.parse(await invoke(functionName, { Records: records }));
      const failed = new Set(answer?.batchItemFailures?.map((failure) => failure.itemIdentifier));
      return [...failed].every((id) => given.has(id)) ? failed : given;
    } catch (error) {
      log.error("invocation.failed", { function: functionName, ...errorFields(error) });
      return given;
    }
  };

  const poll = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        const messages = await receive();
        if (messages.length > 0) await handle(messages);
      } catch (error) {
        if (stopping.signal.aborted) return;
        log.error("queue.unreachable", { queue: queueName, ...errorFields(error) });
        await sleep(PAUSE_AFTER_ERROR_MS);
      }
    }
  };

  const polls = Array.from({ length: batchSize === 1 ? SINGLES_MAX : BATCHES_MAX }, poll);
  return {
    stop: async () => {
      stopping.abort();
      await Promise.race([Promise.all(polls), sleep(STOP_MS_MAX)]);
    },
  };
};

/** One message of the event. Source: AWS, "Using Lambda with Amazon SQS". */
const recordOf = (message: Message, queueName: string): SQSRecord => {
  const { Attributes = {}, MessageAttributes = {}, MD5OfMessageAttributes } = message;
  const attributes = Object.entries(MessageAttributes).map(([name, value]) => [name, attributeOf(value)]);
  const messageAttributes: SQSMessageAttributes = Object.fromEntries(attributes);
  return {
    messageId: message.MessageId ?? "",
    receiptHandle: message.ReceiptHandle ?? "",
    body: message.Body ?? "",
    attributes: {
      ...Attributes,
      ApproximateReceiveCount: Attributes.ApproximateReceiveCount ?? "",
      SentTimestamp: Attributes.SentTimestamp ?? "",
      SenderId: Attributes.SenderId ?? "",
      ApproximateFirstReceiveTimestamp: Attributes.ApproximateFirstReceiveTimestamp ?? "",
    },
    messageAttributes,
    md5OfBody: message.MD5OfBody ?? "",
    ...(MD5OfMessageAttributes !== undefined && { md5OfMessageAttributes: MD5OfMessageAttributes }),
    eventSource: "aws:sqs",
    eventSourceARN: queueArn(queueName),
    awsRegion: REGION,
  };
};

const attributeOf = ({ DataType, StringValue, BinaryValue }: MessageAttributeValue) => ({
  ...(StringValue !== undefined && { stringValue: StringValue }),
  ...(BinaryValue !== undefined && { binaryValue: Buffer.from(BinaryValue).toString("base64") }),
  stringListValues: [],
  binaryListValues: [],
  dataType: DataType ?? "String",
});
