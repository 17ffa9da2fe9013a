import * as z from "zod";
import { bookReadRoles } from "../roles.ts";
import { transactionType } from "../transaction.ts";
import { type ActionTable, nairaAmount, reportedDays, reportGroups } from "./action.ts";

export const marginGroups = ["day", "network", "kind", "account"] as const;

const marginRow = z.object({
  /** What it is not grouped by is null; so is the network of a check. */
  day: z.iso.date().nullable(),
  network: z.string().nullable(),
  kind: transactionType.nullable(),
  account_id: z.string().nullable(),
  /** Delivered orders whose cost is known. */
  orders: z.int(),
  price: nairaAmount,
  cost: nairaAmount,
  margin: nairaAmount,
  /** Of the price; null without one. */
  margin_percent: z.number().nullable(),
  /** Delivered orders whose cost is unknown: they are in no other column. */
  unknown_orders: z.int(),
  unknown_price: nairaAmount,
});

/** What delivered orders earned. */
export const marginActions = {
  "margin report": {
    scope: "service",
    roles: bookReadRoles,
    kind: "read",
    input: z.object({ ...reportedDays, by: reportGroups(marginGroups, "day") }),
    output: z.object({
      rows: z.array(marginRow),
      total: marginRow,
      /** Orders that were created later, or are open, may be missing; null without an account. */
      complete_until: z.iso.datetime().nullable(),
    }),
    summary: "Report price, cost and margin of delivered orders by day, network, kind or account",
    command: "by hand",
  },
} as const satisfies ActionTable;
