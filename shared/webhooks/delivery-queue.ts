import type { BatchResultErrorEntry, SendMessageBatchRequestEntry } from "@aws-sdk/client-sqs";
import * as z from "#zod";
import type { MessageNames } from "../call/message-result.ts";
import { TRANSACTION_UPDATED } from "../contract/webhook-events.ts";
import { transactionIdOf } from "../ledger/schema.ts";
import { allEnded } from "../platform/all-ended.ts";
import type { QueueClient } from "../platform/aws-clients.ts";
import { batchesOf } from "../platform/batches.ts";
import { messageBody } from "../platform/message-body.ts";
import { accountEvent, transactionEvent } from "./webhook-event.ts";

const copy = {
  /** The endpoint of the event's account that it is posted to. */
  endpoint: z.string(),
  /** Set on a copy: the webhook is delivered again, with a delivery record of its own. */
  repeat: z.optional(z.string().check(z.minLength(1), z.maxLength(100))),
  /** Set on a message that is posted also to an endpoint that is down: one at a time, and each replay. */
  probe: z.optional(z.literal(true)),
  /** Set on a message that does not wait for its next attempt: the number of attempts so far, so that it makes one. */
  early: z.optional(z.int().check(z.minimum(0))),
};

/** The endpoint of an account that could not be read: its message ends as a dead letter, also once the account is mended. */
export const UNKNOWN_ENDPOINT = "unknown";

/** A message of the delivery queue: one event to deliver to one endpoint. It holds no personal data. */
export const deliveryMessage = z.union([z.extend(transactionEvent, copy), z.extend(accountEvent, copy)]);
export type DeliveryMessage = z.infer<typeof deliveryMessage>;

export const namesInDelivery = (message: DeliveryMessage): MessageNames =>
  message.event === TRANSACTION_UPDATED ? { transaction: transactionIdOf({ pk: message.transaction_pk }) } : {};

export type DeliveryQueue = {
  /** Resolves once SQS has the message. */
  readonly send: (message: DeliveryMessage, accountId: string) => Promise<void>;
};

/** What SQS takes in one request. Source: AWS, "Amazon SQS batch actions". */
export const BATCH_MESSAGES_MAX = 10;
const BATCH_BYTES_MAX = 1_048_576;

type Batch = {
  readonly entries: SendMessageBatchRequestEntry[];
  bytes: number;
  /** The entries that SQS did not take. */
  readonly failed: Promise<readonly BatchResultErrorEntry[]>;
};

/** SQS took other messages of the batch. An error of the SDK in form, so that `isTransient` knows it. */
class MessageNotTakenError extends Error {
  readonly $metadata: { readonly httpStatusCode: number };
  constructor({ Code, SenderFault }: BatchResultErrorEntry) {
    super(`SQS did not take a message of a batch: ${Code}`);
    this.$metadata = { httpStatusCode: SenderFault ? 400 : 503 };
  }
}

/** The delivery queue. Messages that are sent in one turn of the event loop go in requests of up to ten. */
export const deliveryQueue = (sqs: Pick<QueueClient, "sendMessageBatch">, queueUrl: string): DeliveryQueue => {
  let open: Batch | undefined;
  const begin = (): Batch => {
    const entries: SendMessageBatchRequestEntry[] = [];
    const send = async () => {
      // The rest of this turn adds to the batch.
      await Promise.resolve();
      open = undefined;
      return (await sqs.sendMessageBatch({ QueueUrl: queueUrl, Entries: entries })).Failed ?? [];
    };
    return { entries, bytes: 0, failed: send() };
  };
  return {
    send: async (message, accountId) => {
      const MessageBody = messageBody(message);
      const bytes = Buffer.byteLength(MessageBody);
      const isFull = open?.entries.length === BATCH_MESSAGES_MAX || (open?.bytes ?? 0) + bytes > BATCH_BYTES_MAX;
      if (open === undefined || isFull) open = begin();
      const { entries, failed } = open;
      const Id = String(entries.length);
      // SQS fair queues: one endpoint's backlog does not delay the others, also those of the same account.
      entries.push({ Id, MessageBody, MessageGroupId: `${accountId}#${message.endpoint}` });
      open.bytes += bytes;
      const failure = (await failed).find((entry) => entry.Id === Id);
      if (failure !== undefined) throw new MessageNotTakenError(failure);
    },
  };
};

const CONCURRENT_SENDS_MAX = 10 * BATCH_MESSAGES_MAX;

export type AddressedMessage = { readonly accountId: string; readonly message: DeliveryMessage };

/** Sends all messages, several at a time. */
export const sendAll = async (queue: DeliveryQueue, messages: readonly AddressedMessage[]): Promise<void> => {
  for (const batch of batchesOf(messages, CONCURRENT_SENDS_MAX)) {
    await allEnded(batch.map(({ message, accountId }) => queue.send(message, accountId)));
  }
};
