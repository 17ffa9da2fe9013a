import { purchaseBundleBudget } from "../../../tools/costs/budgets.ts";
import { markdownTable } from "../../../tools/markdown/markdown.ts";
import { type Backends, openBackends } from "../backends.ts";
import { type Bundle, bundleOf, origins } from "../bundle.ts";
import { times } from "../extent.ts";
import { purchaseEvent, startLambda } from "../lambda-process.ts";
import type { Part } from "../part.ts";
import { emptyStack, type Stack, stacks } from "../stacks.ts";
import { median, quantile } from "../statistics.ts";
import { targetTable } from "../targets.ts";

const RUNS = times(21);

/** A new process until its response to its first live purchase. */
type Start = {
  /** From the start of the process. */
  readonly totalMs: number;
  /** Of these, loading the bundle. */
  readonly initMs: number;
  /** Of these, the first invocation. */
  readonly invocationMs: number;
  /** CPU time of the process until then; beside other work it varies less than the duration. */
  readonly cpuMs: number;
};

/** A stack and its measurements. */
type Row = { readonly stack: Stack; readonly bundle: Bundle; readonly starts: Start[] };

export const coldStart: Part = {
  description: `starts ${stacks.length + 1} bundles in new processes, in turn, ${RUNS} times; about a minute`,
  measure: async (report) => {
    const backends = await openBackends();
    try {
      const rows: Row[] = [];
      for (const stack of [emptyStack, ...stacks]) {
        rows.push({ stack, bundle: await bundleOf(stack, backends.file(`${stack.name}.mjs`)), starts: [] });
      }
      for (let run = 0; run < RUNS; run += 1) {
        for (const { stack, bundle, starts } of rows) starts.push(await startOnce(stack, bundle, backends));
        if (run % 5 === 4) report(`${run + 1} of ${RUNS} rounds`);
      }
      return {
        sections: {
          "cold start targets": startTargets(rows),
          "cold start": startTable(rows),
          bundles: contentTable(rows),
        },
      };
    } finally {
      await backends.stop();
    }
  },
};

const startOnce = async (stack: Stack, bundle: Bundle, backends: Backends): Promise<Start> => {
  const [key = ""] = await stack.prepare(backends, 1);
  const environment = { ...stack.environment(backends), ...backends.awsEnvironment() };
  const startMs = performance.now();
  const lambda = await startLambda(bundle, environment, backends.file("start.log"));
  try {
    const { durationsMs, cpuSinceStartUs } = await lambda.invoke([purchaseEvent(key)]);
    const totalMs = performance.now() - startMs;
    const [invocationMs = Number.NaN] = durationsMs;
    return { totalMs, initMs: lambda.initMs, invocationMs, cpuMs: cpuSinceStartUs / 1_000 };
  } finally {
    await lambda.stop();
  }
};

/** Medians of a stack's runs above those of an empty handler in the same round. */
const aboveEmpty = (rows: readonly Row[], { starts }: Row, of: "totalMs" | "cpuMs"): number => {
  const empty = rowNamed(rows, "empty");
  return median(starts.map((start, run) => start[of] - (empty.starts[run]?.[of] ?? Number.NaN)));
};

/** This service relative to another stack, above an empty handler. */
const serviceOver = (rows: readonly Row[], other: Row, of: "totalMs" | "cpuMs"): string =>
  (aboveEmpty(rows, rowNamed(rows, "service"), of) / aboveEmpty(rows, other, of)).toFixed(2);

const rowNamed = (rows: readonly Row[], name: Stack["name"]): Row => {
  const found = rows.find(({ stack }) => stack.name === name);
  if (found === undefined) throw new Error(`${name} was not started`);
  return found;
};

/** The target of decision 0009, and the budgets of a bundle. */
const startTargets = (rows: readonly Row[]): string => {
  const express = rowNamed(rows, "express");
  const { bundle } = rowNamed(rows, "service");
  const start = { bound: "at most", limit: "0.60" } as const;
  return targetTable("first response of a new process", [
    { title: "duration, relative", ...start, measured: { express: serviceOver(rows, express, "totalMs") } },
    { title: "CPU time, relative", ...start, measured: { express: serviceOver(rows, express, "cpuMs") } },
    {
      title: "bundle of `purchase`, KB",
      bound: "at most",
      limit: kilobytes(purchaseBundleBudget.bytes),
      measured: kilobytes(bundle.bytes),
    },
    {
      title: "the same in gzip, KB",
      bound: "at most",
      limit: kilobytes(purchaseBundleBudget.gzipBytes),
      measured: kilobytes(bundle.gzipBytes),
    },
  ]);
};

const startTable = (rows: readonly Row[]): string =>
  markdownTable([
    [
      "first response of a new process",
      "ms",
      "p90, ms",
      "of these INIT, ms",
      "first invocation, ms",
      "above empty, ms",
      "service relative",
      "CPU above empty, ms",
      "service relative",
      "bundle, KB",
      "gzip, KB",
    ],
    ...rows.map((row) => {
      const { stack, bundle, starts } = row;
      const of = (name: keyof Start): readonly number[] => starts.map((start) => start[name]);
      const above = (name: "totalMs" | "cpuMs"): readonly string[] => [
        stack.name === "empty" ? "" : aboveEmpty(rows, row, name).toFixed(0),
        stack.name === "empty" || stack.name === "service" ? "" : `${serviceOver(rows, row, name)} ×`,
      ];
      return [
        stack.title,
        median(of("totalMs")).toFixed(0),
        quantile(of("totalMs"), 0.9).toFixed(0),
        median(of("initMs")).toFixed(0),
        median(of("invocationMs")).toFixed(0),
        ...above("totalMs"),
        ...above("cpuMs"),
        kilobytes(bundle.bytes),
        kilobytes(bundle.gzipBytes),
      ];
    }),
  ]);

const contentTable = (rows: readonly Row[]): string => {
  // The same bundle as the service's, and two with next to nothing in them.
  const full = rows.filter(({ stack: { name } }) => name !== "empty" && name !== "service-sdk" && name !== "floor");
  return markdownTable([
    ["minified, KB", ...full.map(({ stack }) => stack.title)],
    ...origins.map((origin) => [origin, ...full.map(({ bundle }) => kilobytes(bundle.contents[origin]))]),
  ]);
};

const kilobytes = (bytes: number): string => (bytes / 1_000).toFixed(0);
