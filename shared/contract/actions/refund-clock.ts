import * as z from "#zod";
import { errorCodes } from "../errors.ts";
import { transactionType } from "../transaction.ts";
import { DAY_MS } from "../values/durations.ts";
import { type ActionTable, bookRead, reportGroups, reportInput, reportPage } from "./action.ts";

/** The refund framework of NCC and CBN: where money was debited and nothing delivered, and where an outcome is pending. */
export const AT_ONCE_MS = 30_000;
export const PENDING_MS_MAX = DAY_MS;

/**
 * The share of orders that ended within 30 s, in percent, rounded down to two decimals. The product is whole: of a
 * rounded quotient 57 of 100 would be 56.99 percent.
 */
export const atOncePercent = (atOnce: number, orders: number): number => Math.floor((atOnce * 10_000) / orders) / 100;

const count = z._default(z.int().check(z.minimum(0)), 0);
/** How orders ended (`resolved`: by an operator), and how long after their debit. */
export const endCounts = z.object({
  ...{ delivered_30_s: count, delivered_24_h: count, delivered_later: count },
  ...{ refunded_30_s: count, refunded_24_h: count, refunded_later: count },
  ...{ resolved_30_s: count, resolved_24_h: count, resolved_later: count },
});
export const countedEnds = z.keyof(endCounts).options;
export type CountedEnd = (typeof countedEnds)[number];

/**
 * Why an order ended. `answer`: the upstream's answer to the order said that it was delivered. `event`, `lookup`: the
 * upstream reported the outcome later, or when it was asked. `operator`: a person resolved it. Otherwise the error code
 * with which it failed and was refunded.
 */
export const endCause = z.enum(["answer", "event", "lookup", "operator", ...errorCodes]);
export type EndCause = z.infer<typeof endCause>;

/** What the rows of the report may be grouped by. */
export const clockGroups = ["kind", "network", "cause"] as const;

/** What a row is not grouped by is null; so is the network of an identity check. */
export const clockGroup = z.object({
  kind: z.nullable(transactionType),
  network: z.nullable(z.string()),
  cause: z.nullable(endCause),
});

/** Live orders that were debited on the days of a report and have ended. */
const endedOrders = z.extend(clockGroup, {
  end: z.enum(countedEnds),
  count: z.int(),
});

/** How fast debited money ends as a delivery or a refund. */
export const refundClockActions = {
  "refund-clock report": {
    ...bookRead,
    input: z.object({ ...reportInput, by: reportGroups(clockGroups, clockGroups.join(",")) }),
    output: z.object({
      ended: z.array(endedOrders),
      /** Of all accounts, live orders that are open now and were debited more than 24 hours ago; null before the last page. */
      open_over_24_h: z.nullable(z.int()),
      ...reportPage,
    }),
    summary: "Report how long after their debit orders were delivered or refunded, by kind, network and cause",
    command: "by hand",
  },
} as const satisfies ActionTable;
