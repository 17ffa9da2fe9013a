import {
  DeleteMessageBatchCommand,
  type Message,
  type MessageAttributeValue,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { SQSMessageAttributes, SQSRecord } from "aws-lambda";
import { errorFields } from "../../shared/platform/log.ts";
import { sleep } from "../../shared/platform/time.ts";
import type { Invoke } from "./functions.ts";
import { failedOf } from "./invoke-batch.ts";
import { REGION } from "./local-aws.ts";
import { localLog } from "./local-log.ts";
import { queueArn } from "./queues.ts";

const LONG_POLL_S = 20;
const PAUSE_AFTER_ERROR_MS = 1_000;
const STOP_MS_MAX = 2_000;

export type QueueConsumer = { readonly stop: () => Promise<void> };

/**
 * Lambda's event source mapping of a queue: invokes a function with its messages and deletes those that succeeded. The
 * others become visible again after their timeout.
 */
export const consumeQueue = (options: {
  readonly client: SQSClient;
  readonly queueName: string;
  readonly queueUrl: string;
  readonly batchSize: number;
  /** Batches in work at once. Unlike AWS, the emulator does not prefer the accounts that have few of them. */
  readonly concurrencyMax: number;
  readonly functionName: string;
  readonly invoke: Invoke;
}): QueueConsumer => {
  const { client, queueName, queueUrl, batchSize, concurrencyMax } = options;
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
    const failed = await failedOf(options, records, ({ messageId }) => messageId);
    const succeeded = records.filter((record) => !failed.has(record.messageId));
    if (succeeded.length === 0) return;
    await client.send(
      new DeleteMessageBatchCommand({
        QueueUrl: queueUrl,
        Entries: succeeded.map(({ receiptHandle }, position) => ({
          Id: String(position),
          ReceiptHandle: receiptHandle,
        })),
      }),
    );
  };

  const repeatUntilStopped = async (work: () => Promise<void>): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await work();
      } catch (error) {
        if (!stopping.signal.aborted) await pauseAfter(error);
      }
    }
  };

  const pauseAfter = async (error: unknown): Promise<void> => {
    localLog.error("queue.unreachable", { queue: queueName, ...errorFields(error) });
    await sleep(PAUSE_AFTER_ERROR_MS);
  };

  const running = new Set<Promise<void>>();
  const consumeBatch = async (): Promise<void> => {
    if (running.size === concurrencyMax) return Promise.race(running);
    const messages = await receive();
    if (messages.length === 0) return;
    const work = handle(messages)
      .catch(pauseAfter)
      .finally(() => running.delete(work));
    running.add(work);
  };

  const polling = repeatUntilStopped(consumeBatch);
  return {
    stop: async () => {
      stopping.abort();
      await Promise.race([polling.then(() => Promise.all(running)), sleep(STOP_MS_MAX)]);
    },
  };
};

/** A message as the function receives it. Source: AWS, "Using Lambda with Amazon SQS". */
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
