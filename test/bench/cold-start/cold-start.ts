import { markdownTable } from "../../../tools/docs/markdown.ts";
import { type Backends, openBackends } from "../backends.ts";
import { type Bundle, bundleOf, origins } from "../bundle.ts";
import { purchaseEvent, startLambda } from "../lambda-process.ts";
import type { Part } from "../part.ts";
import { emptyStack, type Stack, stacks } from "../stacks.ts";
import { median, quantile } from "../statistics.ts";

const RUNS = 21;

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

type Line = { readonly stack: Stack; readonly bundle: Bundle; readonly starts: Start[] };

export const coldStart: Part = {
  description: `starts ${stacks.length + 1} bundles in new processes, in turn, ${RUNS} times; about a minute`,
  measure: async (report) => {
    const backends = await openBackends();
    try {
      const lines: Line[] = [];
      for (const stack of [emptyStack, ...stacks]) {
        lines.push({ stack, bundle: await bundleOf(stack, backends.file(`${stack.name}.mjs`)), starts: [] });
      }
      for (let run = 0; run < RUNS; run += 1) {
        for (const { stack, bundle, starts } of lines) starts.push(await startOnce(stack, bundle, backends));
        if (run % 5 === 4) report(`${run + 1} of ${RUNS} rounds`);
      }
      return {
        results: lines.map(({ stack, ...measured }) => ({ stack: stack.name, ...measured })),
        sections: { "cold start": startTable(lines), bundles: contentTable(lines) },
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

const startTable = (lines: readonly Line[]): string => {
  const [empty, service] = lines;
  const express = lines.find(({ stack: { name } }) => name === "express");
  if (empty === undefined || service === undefined || express === undefined) throw new Error("Nothing was started");
  const aboveEmpty = ({ starts }: Line, of: "totalMs" | "cpuMs"): number =>
    median(starts.map((start, run) => start[of] - (empty.starts[run]?.[of] ?? Number.NaN)));
  const ratio = (line: Line, of: "totalMs" | "cpuMs"): string =>
    line === empty || line === service ? "" : `${(aboveEmpty(service, of) / aboveEmpty(line, of)).toFixed(2)} ×`;
  const table = markdownTable([
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
    ...lines.map((line) => {
      const of = (name: keyof Start): readonly number[] => line.starts.map((start) => start[name]);
      return [
        line.stack.title,
        median(of("totalMs")).toFixed(0),
        quantile(of("totalMs"), 0.9).toFixed(0),
        median(of("initMs")).toFixed(0),
        median(of("invocationMs")).toFixed(0),
        line === empty ? "" : aboveEmpty(line, "totalMs").toFixed(0),
        ratio(line, "totalMs"),
        line === empty ? "" : aboveEmpty(line, "cpuMs").toFixed(0),
        ratio(line, "cpuMs"),
        kilobytes(line.bundle.bytes),
        kilobytes(line.bundle.gzipBytes),
      ];
    }),
  ]);
  const measured = `Measured: ${ratio(express, "totalMs")}, and ${ratio(express, "cpuMs")} its CPU time.`;
  return `${table}\n\nTarget: at most 0.60 × express, above an empty handler. ${measured}`;
};

const contentTable = (lines: readonly Line[]): string => {
  // The same bundle as the service's, and two with next to nothing in them.
  const full = lines.filter(({ stack: { name } }) => name !== "empty" && name !== "service-sdk" && name !== "floor");
  return markdownTable([
    ["minified, KB", ...full.map(({ stack }) => stack.title)],
    ...origins.map((origin) => [origin, ...full.map(({ bundle }) => kilobytes(bundle.contents[origin]))]),
  ]);
};

const kilobytes = (bytes: number): string => (bytes / 1_000).toFixed(0);
