import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { Context, DynamoDBBatchResponse } from "aws-lambda";
import * as z from "#zod";
import type { Change } from "../call/change.ts";
import type { Deadline } from "../platform/deadline.ts";
import { errorFields, type LogEvent, type LogFields, log, loggableError } from "../platform/log.ts";

const image = z.custom<Record<string, AttributeValue>>((value) => typeof value === "object" && value !== null);

/** The fields of Lambda's event that are read. Source: AWS, "Using AWS Lambda with Amazon DynamoDB". */
const streamEvent = z.object({
  Records: z.array(
    z.object({
      dynamodb: z.object({ SequenceNumber: z.string(), OldImage: z.optional(image), NewImage: z.optional(image) }),
    }),
  ),
});

const itemOf = (image: Record<string, AttributeValue>): unknown => unmarshall(image, { wrapNumbers: true });

type StreamRecord = z.output<typeof streamEvent>["Records"][number];
const changeOf = ({ dynamodb: { OldImage, NewImage } }: StreamRecord): Change => ({
  before: OldImage && itemOf(OldImage),
  after: NewImage && itemOf(NewImage),
});

/**
 * The handler of a function that reads a table's stream. After a failure the stream repeats from the first failed
 * change until that is too old (infra/streams.ts). So `apply` must tolerate duplicate changes, and must throw only
 * errors that a retry can resolve.
 */
export const streamHandler =
  (apply: (change: Change, deadline: Deadline) => Promise<LogFields<"change.handled">>) =>
  async (event: unknown, context: Context): Promise<DynamoDBBatchResponse> => {
    const deadline: Deadline = { remainingMs: () => context.getRemainingTimeInMillis() };
    const { Records } = streamEvent.parse(event);
    const failed = await Promise.all(
      Records.map(async (record) => {
        const { SequenceNumber } = record.dynamodb;
        try {
          log.info("change.handled", await apply(changeOf(record), deadline));
          return [];
        } catch (error) {
          log.error("change.failed", { sequence_number: SequenceNumber, ...errorFields(error) });
          return [{ itemIdentifier: SequenceNumber }];
        }
      }),
    );
    return { batchItemFailures: failed.flat() };
  };

/** The handler of a function that reads a table's stream in whole batches. A batch that throws is repeated. */
export const streamBatchHandler =
  <Event extends LogEvent<"info">>(logged: Event, apply: (changes: readonly Change[]) => Promise<LogFields<Event>>) =>
  async (event: unknown): Promise<void> => {
    try {
      log.info(logged, await apply(streamEvent.parse(event).Records.map(changeOf)));
    } catch (error) {
      throw loggableError(error);
    }
  };
