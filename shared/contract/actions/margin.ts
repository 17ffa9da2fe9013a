import * as z from "#zod";
import { transactionType } from "../transaction.ts";
import { type ActionTable, bookRead, reportGroups, reportInput, reportPage } from "./action.ts";

export const marginGroups = ["day", "network", "kind", "account"] as const;

/** What a row is not grouped by is null; so is the network of a check. */
export const marginGroup = z.object({
  day: z.nullable(z.iso.date()),
  network: z.nullable(z.string()),
  kind: z.nullable(transactionType),
  account_id: z.nullable(z.string()),
});

const marginSums = z.extend(marginGroup, {
  /** Delivered orders whose cost is known. */
  orders: z.int(),
  price_kobo: z.int(),
  cost_kobo: z.int(),
  /** Delivered orders whose cost is unknown: they are in no other field. */
  unknown_orders: z.int(),
  unknown_price_kobo: z.int(),
});

/** What delivered orders earned. */
export const marginActions = {
  "margin report": {
    ...bookRead,
    input: z.object({ ...reportInput, by: reportGroups(marginGroups, "day") }),
    output: z.object({ sums: z.array(marginSums), ...reportPage }),
    summary: "Report price, cost and margin of delivered orders by day, network, kind or account",
    command: "by hand",
  },
} as const satisfies ActionTable;
