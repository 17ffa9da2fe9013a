import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { type Clock, systemClock } from "../../shared/platform/time.ts";

/** One answer of AWS: when it was asked for and came by this machine's clock, and its `Date` header, which has whole seconds. */
export type TimedAnswer = { readonly sentMs: number; readonly receivedMs: number; readonly dateMs: number };

/** `Date` leaves out the fraction of the second. */
const DATE_PRECISION_MS = 999;
/** A larger difference is reported to the operator. */
const REPORTED_MS_MIN = 5_000;

/**
 * How far AWS's clock is ahead of this machine's. AWS wrote the date between `sentMs` and `receivedMs`: 0 where that agrees with this
 * machine's clock, else the middle of what is possible.
 */
export const clockOffsetMs = ({ sentMs, receivedMs, dateMs }: TimedAnswer): number => {
  const least = dateMs - receivedMs;
  const most = dateMs + DATE_PRECISION_MS - sentMs;
  return least <= 0 && most >= 0 ? 0 : Math.round((least + most) / 2);
};

/**
 * The time by AWS's clock, measured by one strong read of the ledger. What an operator writes is put in order with what the functions
 * wrote, whose clocks AWS keeps: the clock of the operator's machine may be wrong.
 */
export const awsClock = async (table: string): Promise<Clock> => {
  const offsetMs = clockOffsetMs(await timedAnswer(table));
  const offS = Math.round(Math.abs(offsetMs) / 1_000);
  if (offS * 1_000 >= REPORTED_MS_MIN) {
    const direction = offsetMs > 0 ? "behind" : "ahead of";
    process.stderr.write(`This machine's clock is ${offS} s ${direction} AWS's, whose time is used.\n`);
  }
  return () => systemClock() + offsetMs;
};

const answer = z.object({ response: z.object({ headers: z.object({ date: z.string() }) }) });

const timedAnswer = async (table: string): Promise<TimedAnswer> => {
  const client = new DynamoDBClient({ maxAttempts: 2 });
  let timed: TimedAnswer | undefined;
  // In this step a retry is timed by itself.
  client.middlewareStack.add(
    (next) => async (args) => {
      const sentMs = systemClock();
      const result = await next(args);
      const date = answer.safeParse(result).data?.response.headers.date ?? "";
      timed = { sentMs, receivedMs: systemClock(), dateMs: Date.parse(date) };
      return result;
    },
    { step: "deserialize" },
  );
  try {
    await client.send(new GetItemCommand({ TableName: table, Key: { pk: { S: "clock" } }, ConsistentRead: true }));
  } finally {
    client.destroy();
  }
  if (timed === undefined || Number.isNaN(timed.dateMs)) {
    throw new OperatorError("DynamoDB's answer has no readable Date, and this machine's clock may be wrong: try again");
  }
  return timed;
};
