import type { QueueClient } from "../platform/aws-clients.ts";

/** The longest that SQS hides a message from the moment it was received: 12 hours. */
const POSTPONE_S_MAX = 43_200;

/** Hides a received message for `afterS` seconds. If its failure is reported too, it is received again after that. */
export type Postpone = (receiptHandle: string, afterS: number) => Promise<void>;

export const createPostpone =
  (sqs: Pick<QueueClient, "changeMessageVisibility">, queueUrl: string): Postpone =>
  async (receiptHandle, afterS) => {
    await sqs.changeMessageVisibility({
      QueueUrl: queueUrl,
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: Math.min(POSTPONE_S_MAX, Math.max(0, Math.ceil(afterS))),
    });
  };
