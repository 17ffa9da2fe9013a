import type { Mode } from "../../../shared/contract/transaction.ts";
import type { Budget } from "../../../tools/costs/budgets.ts";
import { dollarsOf } from "../../../tools/costs/prices.ts";
import { times, usageOf } from "../../../tools/costs/request-usage.ts";
import { markdownTable } from "../../../tools/docs/markdown.ts";
import { median, pairedRatio } from "../samples.ts";
import type { Counts } from "./counts.ts";
import type { Line } from "./purchase.ts";
import type { Slice } from "./slice.ts";

const MILLION = 1_000_000;

export const purchaseTables = (lines: readonly Line[]): string =>
  [timeTable("test", lines), timeTable("live", lines), countTable(lines)].join("\n\n");

/** One figure of a stack: the middle of its rounds. */
const middle = (slices: readonly Slice[], of: keyof Slice): number => median(slices.map((slice) => slice[of]));

/** A stack's figure over ours, in pairs of slices of the same round. */
export const overOurs = (lines: readonly Line[], line: Line, mode: Mode, of: keyof Slice): number => {
  const ours = lines[0]?.slices[mode] ?? [];
  return pairedRatio(
    line.slices[mode].map((slice) => slice[of]),
    ours.map((slice) => slice[of]),
  );
};

const titles: Readonly<Record<Mode, string>> = {
  test: "with a test key: nothing upstream",
  live: "with a live key: an upstream that delivers at once",
};

const timeTable = (mode: Mode, lines: readonly Line[]): string =>
  markdownTable([
    [titles[mode], "purchases/s", "ours is", "p50, ms", "p99, ms", "server CPU, ms a purchase", "ours is"],
    ...lines.map((line, index) => {
      const { stack, slices } = line;
      const ratio = (of: "perSecond" | "cpuUs"): string =>
        index === 0 ? "" : `${(1 / overOurs(lines, line, mode, of)).toFixed(2)} ×`;
      return [
        stack.title,
        middle(slices[mode], "perSecond").toFixed(0),
        ratio("perSecond"),
        middle(slices[mode], "p50Ms").toFixed(1),
        middle(slices[mode], "p99Ms").toFixed(1),
        (middle(slices[mode], "cpuUs") / 1_000).toFixed(2),
        ratio("cpuUs"),
      ];
    }),
  ]);

const countTable = (lines: readonly Line[]): string =>
  markdownTable([
    [
      "a live purchase, counted",
      "DynamoDB calls",
      "write units: tables",
      "indexes",
      "refused",
      "read units",
      "log, bytes",
      "USD a million",
    ],
    ...lines.map(({ stack, counts }) => [
      stack.title,
      `${counts.calls.length}: ${counts.calls.join(", ")}`,
      String(counts.tableWriteUnits),
      String(counts.indexWriteUnits),
      String(counts.refusedWriteUnits),
      String(counts.readUnits),
      String(counts.logBytes),
      dollarsAMillion(counts).toFixed(2),
    ]),
  ]);

/** By the prices and the assumptions of `npm run costs`; what differs is what was counted. */
const dollarsAMillion = (counts: Counts): number => {
  const budget: Budget = {
    title: "counted",
    invocations: [{ function: "purchase", calls: counts.calls, waitsFor: "upstream" }],
    writeUnits: {
      tables: counts.tableWriteUnits,
      indexes: counts.indexWriteUnits,
      cancelled: counts.refusedWriteUnits,
    },
    readUnits: counts.readUnits,
    log: { events: ["request.answered"], bytes: counts.logBytes },
    responseBytes: counts.answerBytes,
  };
  return dollarsOf(times(usageOf(budget), MILLION));
};
