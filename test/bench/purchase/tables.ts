import type { Mode } from "../../../shared/contract/transaction.ts";
import type { Budget } from "../../../tools/costs/budgets.ts";
import { dollarsOf } from "../../../tools/costs/prices.ts";
import { times, usageOf } from "../../../tools/costs/request-usage.ts";
import { markdownTable } from "../../../tools/docs/markdown.ts";
import { median, pairedRatio } from "../statistics.ts";
import type { Counts } from "./counts.ts";
import type { Line } from "./purchase.ts";
import type { Slice } from "./slice.ts";

const MILLION = 1_000_000;

export const purchaseTables = (lines: readonly Line[]): string =>
  [timeTable("test", lines), timeTable("live", lines), countTable(lines)].join("\n\n");

/** The median of a stack's rounds. */
const medianOf = (slices: readonly Slice[], of: keyof Slice): number => median(slices.map((slice) => slice[of]));

/** A stack relative to this service: the median of the ratios of slices of the same round. */
export const overService = (lines: readonly Line[], line: Line, mode: Mode, of: keyof Slice): number => {
  const service = lines[0]?.slices[mode] ?? [];
  return pairedRatio(
    line.slices[mode].map((slice) => slice[of]),
    service.map((slice) => slice[of]),
  );
};

const titles: Readonly<Record<Mode, string>> = {
  test: "test key, no upstream",
  live: "live key, an upstream that delivers at once",
};

const timeTable = (mode: Mode, lines: readonly Line[]): string =>
  markdownTable([
    [
      titles[mode],
      "purchases/s",
      "service relative",
      "p50, ms",
      "p99, ms",
      "server CPU per purchase, ms",
      "service relative",
    ],
    ...lines.map((line, index) => {
      const { stack, slices } = line;
      const ratio = (of: "perSecond" | "cpuUs"): string =>
        index === 0 ? "" : `${(1 / overService(lines, line, mode, of)).toFixed(2)} ×`;
      return [
        stack.title,
        medianOf(slices[mode], "perSecond").toFixed(0),
        ratio("perSecond"),
        medianOf(slices[mode], "p50Ms").toFixed(1),
        medianOf(slices[mode], "p99Ms").toFixed(1),
        (medianOf(slices[mode], "cpuUs") / 1_000).toFixed(2),
        ratio("cpuUs"),
      ];
    }),
  ]);

const countTable = (lines: readonly Line[]): string =>
  markdownTable([
    [
      "one live purchase, counted",
      "DynamoDB calls",
      "write units: tables",
      "indexes",
      "cancelled",
      "read units",
      "log, bytes",
      "USD per million",
    ],
    ...lines.map(({ stack, counts }) => [
      stack.title,
      `${counts.calls.length}: ${counts.calls.join(", ")}`,
      String(counts.tableWriteUnits),
      String(counts.indexWriteUnits),
      String(counts.refusedWriteUnits),
      String(counts.readUnits),
      String(counts.logBytes),
      dollarsPerMillion(counts).toFixed(2),
    ]),
  ]);

/** The prices and assumptions are those of `npm run costs`, the quantities are counted. */
const dollarsPerMillion = (counts: Counts): number => {
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
