import type { Command } from "commander";
import * as z from "zod";
import { marginActions, marginGroups } from "../../../shared/contract/actions/margin.ts";
import { marginCsv, marginGroupColumns } from "../../../shared/contract/margin-csv.ts";
import { addCommand, reportOptions } from "../command.ts";
import { perform } from "../perform.ts";
import { completeText, nairaText, table } from "../views/print.ts";

type Report = z.output<(typeof marginActions)["margin report"]["output"]>;
type Row = Report["rows"][number];

export const addMarginCommands = (group: Command): void => {
  const { input, summary } = marginActions["margin report"];
  addCommand(group, {
    usage: "report",
    readOnly: true,
    summary,
    example: "report --from 2026-11-01 --to 2026-11-30 --by day,network --csv > november.csv",
    options: reportOptions(marginGroups, "day"),
    input: input.extend({ csv: z.boolean().default(false) }),
    run: async (context, { csv, ...period }) => {
      const report = await perform(context, "margin report", period);
      return { json: report, text: csv ? marginCsv(report.rows) : tableOf(report, context.timeZone) };
    },
  });
};

const tableOf = ({ rows, total, complete_until }: Report, timeZone: string): string => {
  const cells = (row: Row, name = ""): string[] => [
    name || marginGroupColumns.flatMap((column) => row[column] ?? []).join(" ") || "checks",
    String(row.orders),
    nairaText(row.price),
    nairaText(row.cost),
    nairaText(row.margin),
    row.margin_percent === null ? "" : `${row.margin_percent} %`,
    String(row.unknown_orders),
    nairaText(row.unknown_price),
  ];
  const heads = ["group", "orders", "price", "cost", "margin", "percent", "cost unknown", "their price"];
  const shown = table(heads, [...rows.map((row) => cells(row)), cells(total, "total")]);
  return `${shown}\n\n${completeText(complete_until, timeZone)}`;
};
