import * as z from "zod";
import { bookReadRoles } from "../roles.ts";
import { transactionType } from "../transaction.ts";
import { type ActionTable, reportedDays } from "./action.ts";

/** The refund framework of NCC and CBN: where money was debited and nothing delivered, and where an outcome is pending. */
export const AT_ONCE_MS = 30_000;
export const PENDING_MS_MAX = 24 * 3_600_000;

const count = z.int().min(0).default(0);
/** How orders ended (`resolved`: by an operator), and how long after their debit. */
export const endCounts = z.object({
  ...{ delivered_30_s: count, delivered_24_h: count, delivered_later: count },
  ...{ refunded_30_s: count, refunded_24_h: count, refunded_later: count },
  ...{ resolved_30_s: count, resolved_24_h: count, resolved_later: count },
});
export const countedEnds = endCounts.keyof().options;
export type CountedEnd = (typeof countedEnds)[number];

const clockRow = z.object({
  kind: transactionType,
  /** Null for an identity check. */
  network: z.string().nullable(),
  /** Live orders that were debited on these days and have ended. */
  orders: z.int(),
  /** Of them, those that ended within 30 s of the debit, in percent. */
  within_30_s_percent: z.number(),
  ...endCounts.shape,
});

/** How fast debited money ends as a delivery or a refund. */
export const refundClockActions = {
  "refund-clock report": {
    scope: "service",
    roles: bookReadRoles,
    kind: "read",
    input: z.object(reportedDays),
    output: z.object({
      rows: z.array(clockRow),
      /** Live orders that are open now and were debited more than 24 hours ago. */
      open_over_24_h: z.int(),
      /** Orders that were created later, or are open, may be missing; null without an account. */
      complete_until: z.iso.datetime().nullable(),
    }),
    summary: "Report how long after their debit orders were delivered or refunded, by kind and network",
    command: {
      takes: { from: "--from <day>", to: "--to <day>" },
      example: "--from 2026-11-01 --to 2026-11-30",
      table: {
        rows: "rows",
        columns: ["kind", "network", "orders", "within_30_s_percent", ...countedEnds],
      },
      note: "A column says how an order ended, and within which time after its debit: 30 s, 24 h, or later. `resolved` was ended by an operator. Orders of the last hour are missing. JSON output has the time until which the report is complete, and the number of orders that are open for more than 24 hours.",
    },
  },
} as const satisfies ActionTable;
