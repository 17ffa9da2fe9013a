import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import * as z from "#zod";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { type Clock, systemClock } from "../../shared/platform/time.ts";
import { withClient } from "../aws/with-client.ts";
import { printMessage } from "./terminal.ts";

/** One AWS response: when this machine sent the request and received it, and its `Date` header, in whole seconds. */
type TimedResponse = { readonly sentMs: number; readonly receivedMs: number; readonly dateMs: number };

/** `Date` omits the fraction of the second. */
const DATE_PRECISION_MS = 999;
/** A larger difference is reported to the operator. */
const REPORTED_MS_MIN = 5_000;

/**
 * How far AWS's clock is ahead of this machine's. AWS wrote the date between `sentMs` and `receivedMs`: 0 if this
 * machine's clock agrees with that, else the middle of the possible range.
 */
export const clockOffsetMs = ({ sentMs, receivedMs, dateMs }: TimedResponse): number => {
  const least = dateMs - receivedMs;
  const most = dateMs + DATE_PRECISION_MS - sentMs;
  return least <= 0 && most >= 0 ? 0 : Math.round((least + most) / 2);
};

/**
 * AWS's time, measured by one strong read of a table. The operator's entries are sorted by time among those of the
 * functions, whose clocks AWS keeps; the clock of the operator's machine may be wrong.
 */
export const awsClock = async (table: string): Promise<Clock> => {
  const offsetMs = clockOffsetMs(await timedResponse(table));
  const offS = Math.round(Math.abs(offsetMs) / 1_000);
  if (offS * 1_000 >= REPORTED_MS_MIN) {
    const direction = offsetMs > 0 ? "behind" : "ahead of";
    printMessage(`This machine's clock is ${offS} s ${direction} AWS's. AWS's time is used.`);
  }
  return () => systemClock() + offsetMs;
};

const dynamoDbOutput = z.object({ response: z.object({ headers: z.object({ date: z.string() }) }) });

const timedResponse = async (table: string): Promise<TimedResponse> => {
  const client = new DynamoDBClient({ maxAttempts: 2 });
  let timed: TimedResponse | undefined;
  // Middleware of this step runs for every attempt, so each attempt has its own times.
  client.middlewareStack.add(
    (next) => async (args) => {
      const sentMs = systemClock();
      const result = await next(args);
      const date = dynamoDbOutput.safeParse(result).data?.response.headers.date ?? "";
      timed = { sentMs, receivedMs: systemClock(), dateMs: Date.parse(date) };
      return result;
    },
    { step: "deserialize" },
  );
  const read = new GetItemCommand({ TableName: table, Key: { pk: { S: "clock" } }, ConsistentRead: true });
  await withClient(client, () => client.send(read));
  if (timed === undefined || Number.isNaN(timed.dateMs)) {
    throw new OperatorError(
      "DynamoDB's response has no readable Date, so the time of the change is unknown. Try again",
    );
  }
  return timed;
};
