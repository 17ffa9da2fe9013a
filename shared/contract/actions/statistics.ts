import * as z from "#zod";
import { finalStatus } from "../final-status.ts";
import { transactionType } from "../transaction.ts";
import { type ActionTable, accountInput, accountRead, serviceRead, typedNumber } from "./action.ts";

/** Live transactions that ended in an hour, by what they have in common. */
export const endedCount = z.object({
  type: transactionType,
  /** Null for an identity check. */
  network: z.nullable(z.string()),
  status: finalStatus,
  count: z.int(),
  /** NGN. */
  amount: z.number(),
  /**
   * How many of them ended within each of `latency_bounds_ms`, and last how many later; without those that an operator
   * resolved.
   */
  latency: z.array(z.int()),
});

const STATISTICS_HOURS_MAX = 31 * 24;
const BALANCE_DAYS_MAX = 400;

/** Counts by hour and balances by day. */
export const statisticsActions = {
  "statistics show": {
    ...serviceRead,
    input: z.object({
      hours: z.pipe(typedNumber, z.int().check(z.minimum(1), z.maximum(STATISTICS_HOURS_MAX))),
    }),
    /** About: a change that was handled again counts twice. */
    output: z.object({
      /** The stage's: where days begin. */
      time_zone: z.string(),
      latency_bounds_ms: z.array(z.int()),
      /** Each hour until this one, oldest first. */
      hours: z.array(z.object({ hour: z.iso.datetime(), counts: z.array(endedCount) })),
    }),
    summary: "Count live transactions that ended, by hour, type, network and result, with their latency",
    command: "none",
  },
  "statistics account": {
    ...accountRead,
    input: z.extend(accountInput, {
      days: z._default(z.pipe(typedNumber, z.int().check(z.minimum(1), z.maximum(31))), 14),
    }),
    /** About: a change that was handled again counts twice. */
    output: z.object({
      account_id: z.string(),
      latency_bounds_ms: z.array(z.int()),
      /** Each day of the stage's time zone until today, oldest first. */
      days: z.array(
        z.object({
          day: z.iso.date(),
          counts: z.array(endedCount),
          failures: z.array(
            z.object({
              type: transactionType,
              network: z.nullable(z.string()),
              /** Of the error that the caller got; `resolved` if an operator resolved the order as failed. */
              code: z.string(),
              count: z.int(),
            }),
          ),
        }),
      ),
    }),
    summary: "Count an account's live transactions that ended, by day, type, network and result, and why they failed",
    command: "none",
  },
  "statistics balances": {
    ...accountRead,
    input: z.extend(accountInput, {
      days: z._default(z.pipe(typedNumber, z.int().check(z.minimum(1), z.maximum(BALANCE_DAYS_MAX))), 30),
    }),
    output: z.object({
      account_id: z.string(),
      /** Each day of the stage's time zone until today, oldest first. NGN at the end of the day; null before the first known balance. */
      balances: z.array(z.object({ day: z.iso.date(), balance: z.nullable(z.number()) })),
    }),
    summary: "List an account's balance at the end of each day",
    command: "none",
  },
} as const satisfies ActionTable;
