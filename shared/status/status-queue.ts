import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import * as z from "zod";
import { modeSchema } from "../contract/transaction.ts";
import type { Deadline } from "../platform/deadline.ts";
import { verdictSchema } from "../wallet/settle.ts";

/**
 * A message of the status queue: what was learnt about one transaction of ours. It holds no personal data. `mode` is set by
 * whoever sends it; with `attempt` it makes sure that the verdict meets the very transaction that it speaks of.
 */
export const statusMessage = z.object({
  kind: z.literal("verdict"),
  mode: modeSchema,
  transaction: z.string(),
  attempt: z.string(),
  verdict: verdictSchema,
});
export type StatusMessage = z.infer<typeof statusMessage>;

/** Left for writing the answer. */
const ANSWER_RESERVE_MS = 500;

export type StatusQueue = {
  /** Resolves once SQS has the message, before the deadline; it is read after `delay_s` (at most 900). */
  readonly send: (message: StatusMessage, delay_s: number, deadline: Deadline) => Promise<void>;
};

export const statusQueue = (sqs: SQSClient, queueUrl: string): StatusQueue => ({
  send: async (message, delay_s, deadline) => {
    const command = new SendMessageCommand({
      QueueUrl: queueUrl,
      MessageBody: JSON.stringify(message),
      DelaySeconds: delay_s,
    });
    const patience_ms = Math.max(1, Math.floor(deadline.remaining_ms() - ANSWER_RESERVE_MS));
    await sqs.send(command, { abortSignal: AbortSignal.timeout(patience_ms) });
  },
});
