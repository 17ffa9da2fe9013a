import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import * as z from "zod";

/** The ends of a transaction that are told. */
export const finalStatus = z.enum(["success", "failed"]);
export type FinalStatus = z.infer<typeof finalStatus>;

/** A message of the delivery queue: which end of which transaction is to be told. It holds no personal data. */
export const deliveryMessage = z.object({
  transaction: z.string(),
  status: finalStatus,
  /** Names a repetition that somebody asked for: it is told although it was told before, and has a record of its own. */
  repeat: z.string().min(1).max(100).optional(),
});
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
        // SQS fair queues: an account with a backlog does not make the others wait.
        MessageGroupId: accountId,
      }),
    );
  },
});
