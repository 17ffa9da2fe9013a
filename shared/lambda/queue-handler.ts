import type { Context, SQSBatchResponse } from "aws-lambda";
import * as z from "#zod";
import type { MessageResult } from "../call/message-result.ts";
import type { Deadline } from "../platform/deadline.ts";
import { errorFields, type LogFields, log } from "../platform/log.ts";
import type { Postpone } from "./postpone.ts";

/** The fields of Lambda's SQS event that are read. Source: AWS, "Using Lambda with Amazon SQS". */
const queueEvent = z.object({
  Records: z.array(z.object({ messageId: z.string(), receiptHandle: z.string(), body: z.string() })),
});

/**
 * The handler of a function that reads a queue. Each message succeeds or fails by itself, so a bad one does not hold
 * back its batch. `postpone` is required when `apply` returns `afterS`.
 */
export const queueHandler =
  <Message extends z.ZodMiniType>(
    messageSchema: Message,
    apply: (message: z.output<Message>, deadline: Deadline) => Promise<MessageResult>,
    postpone?: Postpone,
  ) =>
  async (event: unknown, context: Context): Promise<SQSBatchResponse> => {
    const deadline: Deadline = { remainingMs: () => context.getRemainingTimeInMillis() };
    const { Records } = queueEvent.parse(event);
    const results = await Promise.all(
      Records.map(async ({ messageId, receiptHandle, body }) => {
        const result = await applySafely(() => apply(messageSchema.parse(JSON.parse(body)), deadline));
        if (result.kind === "retry" && result.afterS !== undefined) {
          await postponeSafely(postpone, receiptHandle, result.afterS);
        }
        log.info("message.handled", { message_id: messageId, ...resultFields(result) });
        return { messageId, result };
      }),
    );
    const failed = results.filter(({ result }) => result.kind === "retry");
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };

const resultFields = (result: MessageResult): Omit<LogFields<"message.handled">, "message_id"> =>
  result.kind === "done" ? result : { kind: result.kind, reason: result.reason, after_s: result.afterS };

/** A message that cannot be parsed or applied is retried. */
const applySafely = async (apply: () => Promise<MessageResult>): Promise<MessageResult> => {
  try {
    return await apply();
  } catch (error) {
    log.error("message.failed", errorFields(error));
    return { kind: "retry", reason: "error" };
  }
};

/** A message that cannot be postponed returns when the queue's visibility timeout ends. */
const postponeSafely = async (postpone: Postpone | undefined, receiptHandle: string, afterS: number): Promise<void> => {
  if (postpone === undefined) throw new Error("A message returned afterS, and this queue's handler cannot postpone");
  try {
    await postpone(receiptHandle, afterS);
  } catch (error) {
    log.error("message.not_postponed", errorFields(error));
  }
};
