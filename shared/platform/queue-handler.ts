import middy from "@middy/core";
import type { Context, SQSBatchResponse } from "aws-lambda";
import * as z from "zod";
import type { Deadline } from "./deadline.ts";
import { errorFields, log } from "./log.ts";

/** What should become of a message. One that cannot be read is retried too: after its last try it is a dead letter. */
export type MessageResult =
  | { readonly kind: "done"; readonly outcome: string }
  | { readonly kind: "retry"; readonly reason: string };

/** What we read of Lambda's SQS event. Source: AWS, "Using Lambda with Amazon SQS". */
const queueEvent = z.object({ Records: z.array(z.object({ messageId: z.string(), body: z.string() })) });

/** The handler of a function that reads a queue: messages stand alone, so that a bad one does not hold back its batch. */
export const queueHandler = <Message extends z.ZodType>(
  messageSchema: Message,
  apply: (message: z.output<Message>, deadline: Deadline) => Promise<MessageResult>,
) =>
  middy<unknown, SQSBatchResponse>({ timeoutEarlyInMillis: 0 }).handler(
    async (event: unknown, context: Context): Promise<SQSBatchResponse> => {
      const deadline: Deadline = { remaining_ms: () => context.getRemainingTimeInMillis() };
      const { Records } = queueEvent.parse(event);
      const results = await Promise.all(
        Records.map(async ({ messageId, body }) => {
          const result = await attempt(() => apply(messageSchema.parse(JSON.parse(body)), deadline));
          log.info("message.handled", { message_id: messageId, ...result });
          return { messageId, result };
        }),
      );
      const failed = results.filter(({ result }) => result.kind === "retry");
      return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    },
  );

const attempt = async (apply: () => Promise<MessageResult>): Promise<MessageResult> => {
  try {
    return await apply();
  } catch (error) {
    log.error("message.broke", errorFields(error));
    return { kind: "retry", reason: "error" };
  }
};
