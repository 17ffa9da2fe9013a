import type { Command } from "commander";
import * as z from "#zod";
import { marginActions, marginGroups } from "../../../shared/contract/actions/margin.ts";
import {
  type MarginReport,
  type MarginRow,
  marginCsv,
  marginGroupColumns,
  marginReport,
} from "../../../shared/contract/reports/margin-report.ts";
import { pagesOf } from "../../../shared/platform/pages.ts";
import { addCommand, reportOptions } from "../command.ts";
import { perform } from "../perform.ts";
import { allReported } from "../views/all-reported.ts";
import { type Cell, completeText, nairaText, table } from "../views/print.ts";

export const addCommands = (group: Command): void => {
  const { input, summary } = marginActions["margin report"];
  addCommand(group, {
    usage: "report",
    readOnly: true,
    summary,
    example: "report --from 2026-11-01 --to 2026-11-30 --by day,network --csv > november.csv",
    options: reportOptions(marginGroups, "day"),
    input: z.extend(z.omit(input, { cursor: true }), { csv: z._default(z.boolean(), false) }),
    run: async (context, { csv, ...period }) => {
      const pages = pagesOf((cursor) => perform(context, "margin report", { ...period, cursor }));
      const report = marginReport(await allReported(pages));
      return { json: report, text: csv ? marginCsv(report.rows) : tableOf(report, context.timeZone) };
    },
  });
};

const tableOf = ({ rows, total, complete_until }: MarginReport, timeZone: string): string => {
  const cells = (row: MarginRow, name = ""): Cell[] => [
    name || marginGroupColumns.flatMap((column) => row[column] ?? []).join(" ") || "checks",
    row.orders,
    nairaText(row.price),
    nairaText(row.cost),
    nairaText(row.margin),
    row.margin_percent === null ? "" : `${row.margin_percent} %`,
    row.unknown_orders,
    nairaText(row.unknown_price),
  ];
  const heads = ["group", "orders", "price", "cost", "margin", "percent", "unknown orders", "unknown price"];
  const shown = table(heads, [...rows.map((row) => cells(row)), cells(total, "total")]);
  return `${shown}\n\n${completeText(complete_until, timeZone)}`;
};
