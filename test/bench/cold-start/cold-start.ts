import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { routes } from "../../../shared/contract/routes.ts";
import { markdownTable } from "../../../tools/docs/markdown.ts";
import { anApiEvent } from "../../builders/api-event.ts";
import { type Backends, openBackends } from "../backends.ts";
import type { Part } from "../part.ts";
import { aNewOrder } from "../purchase/slice.ts";
import { stacks } from "../stacks.ts";
import { median, quantile } from "../statistics.ts";
import { type Bundle, bundleOf, origins } from "./bundle.ts";
import { emptyStack, type LambdaStack, lambdaStacks } from "./stacks.ts";

const RUNS = 21;

/** One stack: its bundle, and the time from the start of each new process to its first response. */
type Line = { readonly stack: LambdaStack; readonly bundle: Bundle; readonly timesMs: number[] };

export const coldStart: Part = {
  description: `starts ${lambdaStacks.length + 1} bundles in new processes, in turn, ${RUNS} times; about a minute`,
  measure: async (report) => {
    const backends = await openBackends();
    try {
      const lines: Line[] = [];
      for (const [index, stack] of [emptyStack, ...lambdaStacks].entries()) {
        const bundle = await bundleOf(stack, backends.file(`bundle-${index}.mjs`));
        lines.push({ stack, bundle, timesMs: [] });
      }
      for (let run = 0; run < RUNS; run += 1) {
        for (const { stack, bundle, timesMs } of lines) timesMs.push(await firstAnswerMs(stack, bundle, backends));
        if (run % 5 === 4) report(`${run + 1} of ${RUNS} rounds`);
      }
      return {
        results: lines.map(({ stack, ...measured }) => ({ stack: stack.title, ...measured })),
        sections: { "cold start": startTable(lines), bundles: contentTable(lines) },
      };
    } finally {
      await backends.stop();
    }
  },
};

const runtime = fileURLToPath(new URL("runtime.ts", import.meta.url));
const answered = z.object({ answer: z.object({ statusCode: z.literal(200) }) });

/** The time from the start of a process until the response to its first live purchase. */
const firstAnswerMs = async (stack: LambdaStack, { path }: Bundle, backends: Backends): Promise<number> => {
  const seller = stacks.find(({ name }) => name === stack.sellsLike);
  if (seller === undefined) throw new Error(`There is no stack ${stack.sellsLike}`);
  const [key = ""] = await seller.prepare(backends, "live", 1);
  const event = backends.file("event.json");
  writeFileSync(event, JSON.stringify(purchaseEvent(key)));
  const env = { NODE_ENV: "production", ...seller.environment("live", backends), ...backends.awsEnvironment() };
  const startMs = performance.now();
  const child = fork(runtime, [path, event], { env, stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [message]: unknown[] = await once(child, "message");
  const tookMs = performance.now() - startMs;
  answered.parse(message);
  await once(child, "exit");
  return tookMs;
};

const purchaseEvent = (key: string) =>
  anApiEvent({
    method: routes.buyData.method,
    path: routes.buyData.path,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(aNewOrder()),
    sourceIp: "127.0.0.1",
  });

const startTable = (lines: readonly Line[]): string => {
  const [empty, service, ...peers] = lines;
  if (empty === undefined || service === undefined) throw new Error("Nothing was started");
  const aboveEmpty = ({ timesMs }: Line): readonly number[] =>
    timesMs.map((timeMs, run) => timeMs - (empty.timesMs[run] ?? Number.NaN));
  const ratio = (line: Line): string =>
    peers.includes(line) ? `${(median(aboveEmpty(service)) / median(aboveEmpty(line))).toFixed(2)} ×` : "";
  return markdownTable([
    [
      "first response of a new process",
      "ms",
      "p90, ms",
      "above empty, ms",
      "service relative",
      "bundle, KB",
      "gzip, KB",
    ],
    ...lines.map((line) => [
      line.stack.title,
      median(line.timesMs).toFixed(0),
      quantile(line.timesMs, 0.9).toFixed(0),
      line === empty ? "" : median(aboveEmpty(line)).toFixed(0),
      ratio(line),
      kilobytes(line.bundle.bytes),
      kilobytes(line.bundle.gzipBytes),
    ]),
  ]);
};

const contentTable = (lines: readonly Line[]): string => {
  const [, ...full] = lines;
  return markdownTable([
    ["minified, KB", ...full.map(({ stack }) => stack.title)],
    ...origins.map((origin) => [origin, ...full.map(({ bundle }) => kilobytes(bundle.contents[origin]))]),
  ]);
};

const kilobytes = (bytes: number): string => (bytes / 1_000).toFixed(0);
