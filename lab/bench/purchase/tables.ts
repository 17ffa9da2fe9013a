import type { Budget } from "../../../tools/costs/budgets.ts";
import { dollarsOf } from "../../../tools/costs/prices.ts";
import { times, usageOf } from "../../../tools/costs/request-usage.ts";
import { markdownTable, wrap } from "../../../tools/markdown/markdown.ts";
import { type Stack, stacks } from "../stacks.ts";
import { median, pairedRatio } from "../statistics.ts";
import { type Target, targetTable } from "../targets.ts";
import type { Counts } from "./counts.ts";
import type { PurchaseResults } from "./purchase.ts";
import { ROUNDS, type Slices, WARM_UP_ROUNDS } from "./rounds.ts";
import { handlerOrders, type Slice, serverLoad } from "./slice.ts";

const MILLION = 1_000_000;

export const purchaseTables = ({ counts, handlers, servers }: PurchaseResults): string =>
  [
    timeTable("as a Lambda handler, one purchase at a time", handlers),
    timeTable(`as a server, ${serverLoad.concurrency} purchases at a time`, servers),
    wrap(`In each round a handler gets ${handlerOrders} purchases, one after the other, and a server ${serverLoad.orders},
      ${serverLoad.concurrency} of them concurrently. Times and rates are the medians of ${ROUNDS} rounds, after
      ${WARM_UP_ROUNDS} that warm up. "Service relative" is this service's value divided by the row's: the median of the
      ratios within each round.`),
    countTable(counts),
  ].join("\n\n");

/** This service relative to another stack: the median of the ratios of slices of the same round. */
export const serviceOver = (slices: Slices, other: Stack["name"], of: keyof Slice): number =>
  pairedRatio(valuesOf(slices, "service", of), valuesOf(slices, other, of));

const valuesOf = (slices: Slices, name: Stack["name"], of: keyof Slice): readonly number[] =>
  (slices.get(name) ?? []).map((slice) => slice[of]);

const timeTable = (title: string, slices: Slices): string =>
  markdownTable([
    [title, "CPU per purchase, ms", "service relative", "purchases/s", "service relative", "p50, ms", "p99, ms"],
    ...stacks
      .filter(({ name }) => slices.has(name))
      .map((stack) => {
        const value = (of: keyof Slice): number => median(valuesOf(slices, stack.name, of));
        const ratio = (of: keyof Slice): string =>
          stack.name === "service" ? "" : `${serviceOver(slices, stack.name, of).toFixed(2)} ×`;
        return [
          stack.title,
          (value("cpuUs") / 1_000).toFixed(2),
          ratio("cpuUs"),
          value("perSecond").toFixed(0),
          ratio("perSecond"),
          value("p50Ms").toFixed(1),
          value("p99Ms").toFixed(1),
        ];
      }),
  ]);

/** The targets of decision 0009, with what this run has measured. */
export const purchaseTargets = ({ counts, handlers, servers }: PurchaseResults): string => {
  const service = counts.get("service");
  if (service === undefined) throw new Error("The service was not counted");
  const writeUnits = service.tableWriteUnits + service.indexWriteUnits;
  const relative = (slices: Slices, of: keyof Slice): Target["measured"] =>
    Object.fromEntries(
      peerNames.filter((name) => slices.has(name)).map((name) => [name, serviceOver(slices, name, of).toFixed(2)]),
    );
  const cpu = { bound: "at most", limit: "0.50" } as const;
  const perSecond = { bound: "at least", limit: "1.80" } as const;
  return targetTable("live purchase", [
    { title: "DynamoDB calls", bound: "at most", limit: "3", measured: String(service.calls.length) },
    { title: "write units, indexes included", bound: "at most", limit: "10", measured: String(writeUnits) },
    { title: "USD per million", bound: "at most", limit: "15", measured: dollarsPerMillion(service).toFixed(2) },
    { title: "CPU time of a Lambda handler, relative", ...cpu, measured: relative(handlers, "cpuUs") },
    { title: "CPU time of a server, relative", ...cpu, measured: relative(servers, "cpuUs") },
    { title: "purchases/s of a Lambda handler, relative", ...perSecond, measured: relative(handlers, "perSecond") },
    { title: "purchases/s of a server, relative", ...perSecond, measured: relative(servers, "perSecond") },
  ]);
};

const peerNames = ["express", "powertools", "fastify", "hono"] as const satisfies readonly Stack["name"][];

const countTable = (counted: PurchaseResults["counts"]): string =>
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
    ...[...counted].map(([name, counts]) => [
      stacks.find((stack) => stack.name === name)?.title ?? "",
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
