import { ChangeMessageVisibilityCommand, type SQSClient } from "@aws-sdk/client-sqs";

/** The longest that SQS hides a message from the moment it was received: 12 hours. */
const POSTPONE_S_MAX = 43_200;

/** Hides a received message for `afterS` seconds. If its failure is reported too, it is received again after that. */
export type Postpone = (receiptHandle: string, afterS: number) => Promise<void>;

export const createPostpone =
  (sqs: SQSClient, queueUrl: string): Postpone =>
  async (receiptHandle, afterS) => {
    await sqs.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: queueUrl,
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: Math.min(POSTPONE_S_MAX, Math.max(0, Math.ceil(afterS))),
      }),
    );
  };
