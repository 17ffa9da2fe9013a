import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import * as z from "zod";
import { accountEvent, transactionEvent } from "./webhook-event.ts";

const copy = {
  /** Set on a copy: the webhook is delivered again, with a delivery record of its own. */
  repeat: z.string().min(1).max(100).optional(),
  /** Set on a message that is posted also to an endpoint that is down: one at a time, and each replay. */
  probe: z.literal(true).optional(),
  /** Set on a message that does not wait for its next attempt: the number of attempts so far, so that it makes one. */
  early: z.int().min(0).optional(),
};

/** A message of the delivery queue: one webhook to deliver. It holds no personal data. */
export const deliveryMessage = z.union([transactionEvent.extend(copy), accountEvent.extend(copy)]);
export type DeliveryMessage = z.infer<typeof deliveryMessage>;

export type DeliveryQueue = {
  /** Resolves once SQS has the message. */
  readonly send: (message: DeliveryMessage, accountId: string) => Promise<void>;
};

export const deliveryQueue = (sqs: SQSClient, queueUrl: string): DeliveryQueue => ({
  send: async (message, accountId) => {
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: JSON.stringify(message),
        // SQS fair queues: one account's backlog does not delay the others.
        MessageGroupId: accountId,
      }),
    );
  },
});

const CONCURRENT_SENDS_MAX = 20;

export type AddressedMessage = { readonly accountId: string; readonly message: DeliveryMessage };

/** Sends all messages, several at a time. */
export const sendAll = async (queue: DeliveryQueue, messages: readonly AddressedMessage[]): Promise<void> => {
  for (let sent = 0; sent < messages.length; sent += CONCURRENT_SENDS_MAX) {
    const batch = messages.slice(sent, sent + CONCURRENT_SENDS_MAX);
    await Promise.all(batch.map(({ message, accountId }) => queue.send(message, accountId)));
  }
};
