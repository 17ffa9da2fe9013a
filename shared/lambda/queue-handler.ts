import type { Context, SQSBatchResponse } from "aws-lambda";
import * as z from "#zod";
import { FAULT_RETRY_S, type MessageNames, type MessageResult } from "../call/message-result.ts";
import type { Deadline } from "../platform/deadline.ts";
import { errorFields, type LogFields, log } from "../platform/log.ts";
import { isTransient } from "../platform/transient-error.ts";
import type { Postpone } from "./postpone.ts";

/** The fields of Lambda's SQS event that are read. Source: AWS, "Using Lambda with Amazon SQS". */
const queueEvent = z.object({
  Records: z.array(z.object({ messageId: z.string(), receiptHandle: z.string(), body: z.string() })),
});

type LoggedMessage = MessageNames & Pick<LogFields<"message.handled">, "message_id">;

/**
 * The handler of a function that reads a queue. Each message succeeds or fails by itself, so a bad one does not hold
 * back its batch: one that cannot be parsed or applied is retried.
 */
export const queueHandler =
  <Message extends z.ZodMiniType>(
    messageSchema: Message,
    namesOf: (message: z.output<Message>) => MessageNames,
    apply: (message: z.output<Message>, deadline: Deadline) => Promise<MessageResult>,
    postpone: Postpone,
  ) =>
  async (event: unknown, context: Context): Promise<SQSBatchResponse> => {
    const deadline: Deadline = { remainingMs: () => context.getRemainingTimeInMillis() };
    const { Records } = queueEvent.parse(event);
    const results = await Promise.all(
      Records.map(async ({ messageId, receiptHandle, body }) => {
        let logged: LoggedMessage = { message_id: messageId };
        let result: MessageResult;
        try {
          const message = messageSchema.parse(JSON.parse(body));
          logged = { ...logged, ...namesOf(message) };
          result = await apply(message, deadline);
        } catch (error) {
          log.error("message.failed", { ...logged, ...errorFields(error) });
          result = { kind: "retry", reason: "error", ...(!isTransient(error) && { afterS: FAULT_RETRY_S }) };
        }
        if (result.kind === "retry" && result.afterS !== undefined) {
          await postponeSafely(postpone, receiptHandle, result.afterS, logged);
        }
        log.info("message.handled", { ...logged, ...resultFields(result) });
        return { messageId, result };
      }),
    );
    const failed = results.filter(({ result }) => result.kind === "retry");
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };

const resultFields = (result: MessageResult): Omit<LogFields<"message.handled">, keyof LoggedMessage> =>
  result.kind === "done" ? result : { kind: result.kind, reason: result.reason, after_s: result.afterS };

/** A message that cannot be postponed returns when the queue's visibility timeout ends. */
const postponeSafely = async (
  postpone: Postpone,
  receiptHandle: string,
  afterS: number,
  logged: LoggedMessage,
): Promise<void> => {
  try {
    await postpone(receiptHandle, afterS);
  } catch (error) {
    log.error("message.not_postponed", { ...logged, ...errorFields(error) });
  }
};
