import type { QueueClient } from "../platform/aws-clients.ts";
import { abortAfter, type Deadline } from "../platform/deadline.ts";
import { messageBody } from "../platform/message-body.ts";
import { RESPONSE_RESERVE_MS } from "../platform/time-budgets.ts";
import type { OutcomeMessage } from "./outcome-message.ts";

export type OutcomeQueue = {
  /**
   * Resolves once SQS has the message, and rejects before the deadline. It is delivered after `delayS` (at most 900).
   */
  readonly send: (message: OutcomeMessage, delayS: number, deadline: Deadline) => Promise<void>;
};

export const outcomeQueue = (sqs: Pick<QueueClient, "sendMessage">, queueUrl: string): OutcomeQueue => ({
  send: async (message, delayS, deadline) => {
    const sent = { QueueUrl: queueUrl, MessageBody: messageBody(message), DelaySeconds: delayS };
    await sqs.sendMessage(sent, { abortSignal: abortAfter(deadline.remainingMs() - RESPONSE_RESERVE_MS) });
  },
});
