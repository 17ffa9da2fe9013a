import { ChangeMessageVisibilityCommand, type SQSClient } from "@aws-sdk/client-sqs";
import * as z from "#zod";
import type { Invoke } from "../../../tools/local/functions.ts";

const sent = z.object({ Records: z.array(z.object({ messageId: z.string(), receiptHandle: z.string() })) });
const answered = z.object({ batchItemFailures: z._default(z.array(z.object({ itemIdentifier: z.string() })), []) });

/** Longer than any batch takes: otherwise a slow machine gets messages again that are still being handled. */
export const VISIBILITY_TIMEOUT_S = 600;

/** A function of a queue. Its messages that failed are visible again at once, instead of after the time-out. */
export const retriedAtOnce =
  (client: SQSClient, QueueUrl: string, invoke: Invoke): Invoke =>
  async (name, event) => {
    const { Records } = sent.parse(event);
    const release = async (isFailed: (messageId: string) => boolean): Promise<void> => {
      for (const { messageId, receiptHandle: ReceiptHandle } of Records) {
        if (!isFailed(messageId)) continue;
        await client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
      }
    };
    try {
      const answer = await invoke(name, event);
      const failed = (answered.safeParse(answer).data?.batchItemFailures ?? []).map((each) => each.itemIdentifier);
      const isKnown = failed.every((id) => Records.some(({ messageId }) => messageId === id));
      await release((messageId) => !isKnown || failed.includes(messageId));
      return answer;
    } catch (error) {
      await release(() => true);
      throw error;
    }
  };
