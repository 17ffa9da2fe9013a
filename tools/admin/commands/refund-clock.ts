import type { Command } from "commander";
import * as z from "#zod";
import { clockGroups, countedEnds, refundClockActions } from "../../../shared/contract/actions/refund-clock.ts";
import {
  type ClockReport,
  type ClockRow,
  clockColumns,
  clockReport,
} from "../../../shared/contract/reports/refund-clock-report.ts";
import { csvText } from "../../../shared/contract/values/csv.ts";
import { pagesOf } from "../../../shared/platform/pages.ts";
import { addCommand, reportOptions } from "../command.ts";
import { perform } from "../perform.ts";
import { allReported } from "../views/all-reported.ts";
import { type Cell, completeText, table } from "../views/print.ts";

export const addCommands = (group: Command): void => {
  const { input, summary } = refundClockActions["refund-clock report"];
  addCommand(group, {
    usage: "report",
    readOnly: true,
    summary,
    example: "report --from 2026-11-01 --to 2026-11-30 --by network,cause --csv > november.csv",
    options: reportOptions(clockGroups, clockGroups.join(",")),
    input: z.extend(z.omit(input, { cursor: true }), { csv: z._default(z.boolean(), false) }),
    run: async (context, { csv, ...period }) => {
      const pages = pagesOf((cursor) => perform(context, "refund-clock report", { ...period, cursor }));
      const report = clockReport(await allReported(pages));
      return { json: report, text: csv ? csvOf(report) : tableOf(report, context.timeZone) };
    },
  });
};

const csvOf = ({ rows }: ClockReport): string =>
  csvText(
    clockColumns,
    rows.map((row) => clockColumns.map((column) => String(row[column] ?? ""))),
  );

const tableOf = ({ rows, total, open_over_24_h: open, complete_until }: ClockReport, timeZone: string): string => {
  const cells = (row: ClockRow, name: string): Cell[] => [
    name,
    row.orders,
    row.within_30_s_percent === null ? "" : `${row.within_30_s_percent} %`,
    ...countedEnds.map((end) => row[end]),
  ];
  const nameOf = (row: ClockRow): string => clockGroups.flatMap((group) => row[group] ?? []).join(" ") || "checks";
  return [
    table(
      ["group", "orders", "within 30 s", ...countedEnds.map((end) => end.replaceAll("_", " "))],
      [...rows.map((row) => cells(row, nameOf(row))), cells(total, "total")],
    ),
    "A column says how an order ended, and within which time after its debit. `resolved` was ended by an operator.",
    `Open for more than 24 hours now: ${open}. ${completeText(complete_until, timeZone)}`,
  ].join("\n\n");
};
