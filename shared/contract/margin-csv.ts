import type * as z from "zod";
import type { marginActions } from "./actions/margin.ts";
import { csvText } from "./csv.ts";
import { nairaDecimals } from "./money.ts";

type MarginRow = z.output<(typeof marginActions)["margin report"]["output"]>["rows"][number];

/** What rows may be grouped by: columns of the table and of the CSV. */
export const marginGroupColumns = ["day", "network", "kind", "account_id"] as const;

const COLUMNS = [
  ...marginGroupColumns,
  ...["orders", "price", "cost", "margin", "margin_percent", "unknown_orders", "unknown_price"],
];

/** The margin report as a file; docs/finance.md describes its columns. */
export const marginCsv = (rows: readonly MarginRow[]): string =>
  csvText(
    COLUMNS,
    rows.map((row) => [
      ...marginGroupColumns.map((column) => row[column] ?? ""),
      String(row.orders),
      ...[row.price, row.cost, row.margin].map(nairaDecimals),
      String(row.margin_percent ?? ""),
      String(row.unknown_orders),
      nairaDecimals(row.unknown_price),
    ]),
  );
