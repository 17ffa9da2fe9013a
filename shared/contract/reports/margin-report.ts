import * as z from "#zod";
import { nairaAmount } from "../actions/action.ts";
import { type marginActions, marginGroup } from "../actions/margin.ts";
import { csvText } from "../values/csv.ts";
import { nairaDecimals, nairaFromKobo } from "../values/money.ts";
import { completeUntil, rowsByGroup } from "./report-rows.ts";

type MarginPage = z.output<(typeof marginActions)["margin report"]["output"]>;
type MarginSums = MarginPage["sums"][number];

const marginRow = z.extend(marginGroup, {
  /** Delivered orders whose cost is known. */
  orders: z.int(),
  price: nairaAmount,
  cost: nairaAmount,
  margin: nairaAmount,
  /** The margin's share of the price; null without a price. */
  margin_percent: z.nullable(z.number()),
  /** Delivered orders whose cost is unknown: they are in no other column. */
  unknown_orders: z.int(),
  unknown_price: nairaAmount,
});
export type MarginRow = z.infer<typeof marginRow>;

export const marginReportSchema = z.object({
  rows: z.array(marginRow),
  total: marginRow,
  complete_until: z.nullable(z.iso.datetime()),
});
export type MarginReport = z.infer<typeof marginReportSchema>;

/** What rows may be grouped by: columns of the table and of the CSV. */
export const marginGroupColumns = z.keyof(marginGroup).options;

/** Adds up the pages of a report. */
export const marginReport = (pages: readonly MarginPage[]): MarginReport => {
  const sums = pages.flatMap((page) => page.sums);
  return {
    rows: rowsByGroup(sums, (each) => marginGroupColumns.map((column) => each[column]), rowOf),
    total: rowOf({ day: null, network: null, kind: null, account_id: null }, sums),
    complete_until: completeUntil(pages),
  };
};

type Group = z.infer<typeof marginGroup>;

const rowOf = ({ day, network, kind, account_id }: Group, sums: readonly MarginSums[]): MarginRow => {
  const totalOf = (what: Exclude<keyof MarginSums, keyof Group>): number =>
    sums.reduce((total, each) => total + each[what], 0);
  const [price, cost] = [totalOf("price_kobo"), totalOf("cost_kobo")];
  return {
    ...{ day, network, kind, account_id },
    orders: totalOf("orders"),
    price: nairaFromKobo(price),
    cost: nairaFromKobo(cost),
    margin: nairaFromKobo(price - cost),
    margin_percent: price === 0 ? null : Math.round(((price - cost) * 10_000) / price) / 100,
    unknown_orders: totalOf("unknown_orders"),
    unknown_price: nairaFromKobo(totalOf("unknown_price_kobo")),
  };
};

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
      // With other decimals a negative one would be taken for the beginning of a formula.
      row.margin_percent?.toFixed(2) ?? "",
      String(row.unknown_orders),
      nairaDecimals(row.unknown_price),
    ]),
  );
