import middy from "@middy/core";
import type { Context, SQSBatchResponse } from "aws-lambda";
import * as z from "zod";
import type { Deadline } from "../platform/deadline.ts";
import { errorFields, type LogFields, log } from "../platform/log.ts";
import type { Postpone } from "./postpone.ts";

/** What should become of a message. One that cannot be read is retried too: after its last try it is a dead letter. */
export type MessageResult =
  | { readonly kind: "done"; readonly outcome: string }
  /** It comes back after `afterS`, or where that is not said after the queue's visibility timeout. */
  | { readonly kind: "retry"; readonly reason: string; readonly afterS?: number };

/** What we read of Lambda's SQS event. Source: AWS, "Using Lambda with Amazon SQS". */
const queueEvent = z.object({
  Records: z.array(z.object({ messageId: z.string(), receiptHandle: z.string(), body: z.string() })),
});

/** The handler of a function that reads a queue: messages stand alone, so that a bad one does not hold back its batch. */
export const queueHandler = <Message extends z.ZodType>(
  messageSchema: Message,
  apply: (message: z.output<Message>, deadline: Deadline) => Promise<MessageResult>,
  /** Needed by those whose messages wait for a time that they choose. */
  postpone?: Postpone,
) =>
  middy<unknown, SQSBatchResponse>({ timeoutEarlyInMillis: 0 }).handler(
    async (event: unknown, context: Context): Promise<SQSBatchResponse> => {
      const deadline: Deadline = { remainingMs: () => context.getRemainingTimeInMillis() };
      const { Records } = queueEvent.parse(event);
      const results = await Promise.all(
        Records.map(async ({ messageId, receiptHandle, body }) => {
          const result = await attempt(() => apply(messageSchema.parse(JSON.parse(body)), deadline));
          if (result.kind === "retry" && result.afterS !== undefined) {
            await postponed(postpone, receiptHandle, result.afterS);
          }
          log.info("message.handled", { message_id: messageId, ...resultFields(result) });
          return { messageId, result };
        }),
      );
      const failed = results.filter(({ result }) => result.kind === "retry");
      return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    },
  );

const resultFields = (result: MessageResult): Omit<LogFields<"message.handled">, "message_id"> =>
  result.kind === "done" ? result : { kind: result.kind, reason: result.reason, after_s: result.afterS };

const attempt = async (apply: () => Promise<MessageResult>): Promise<MessageResult> => {
  try {
    return await apply();
  } catch (error) {
    log.error("message.failed", errorFields(error));
    return { kind: "retry", reason: "error" };
  }
};

/** One that cannot be postponed still comes back, when the queue's visibility timeout ends. */
const postponed = async (postpone: Postpone | undefined, receiptHandle: string, afterS: number): Promise<void> => {
  if (postpone === undefined) throw new Error("A message asked for a time, and this queue's handler cannot postpone");
  try {
    await postpone(receiptHandle, afterS);
  } catch (error) {
    log.error("message.not_postponed", errorFields(error));
  }
};
