import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { routes } from "../../../shared/contract/routes.ts";
import { markdownTable } from "../../../tools/docs/markdown.ts";
import { anApiEvent } from "../../builders/api-event.ts";
import type { Part } from "../part.ts";
import { aNewOrder } from "../purchase/slice.ts";
import { median, quantile } from "../samples.ts";
import { stacks } from "../stacks.ts";
import { openSurroundings, type Surroundings } from "../surroundings.ts";
import { type Bundle, bundleOf, origins } from "./bundle.ts";
import { empty, type LambdaStack, lambdaStacks } from "./stacks.ts";

const RUNS = 21;

/** One stack: its bundle, and how long each new process took from its start to its first answer. */
type Line = { readonly stack: LambdaStack; readonly bundle: Bundle; readonly timesMs: number[] };

export const coldStart: Part = {
  says: `starts ${lambdaStacks.length + 1} bundles in new processes, in turn, ${RUNS} times; about a minute.`,
  measure: async (say) => {
    const around = await openSurroundings();
    try {
      const lines: Line[] = [];
      for (const [index, stack] of [empty, ...lambdaStacks].entries()) {
        const bundle = await bundleOf(stack, around.file(`bundle-${index}.mjs`));
        lines.push({ stack, bundle, timesMs: [] });
      }
      for (let run = 0; run < RUNS; run += 1) {
        for (const { stack, bundle, timesMs } of lines) timesMs.push(await firstAnswerMs(stack, bundle, around));
        if (run % 5 === 4) say(`${run + 1} of ${RUNS} rounds`);
      }
      return {
        figures: lines.map(({ stack, ...measured }) => ({ stack: stack.title, ...measured })),
        sections: { "cold start": startTable(lines), bundles: contentTable(lines) },
      };
    } finally {
      await around.stop();
    }
  },
};

const runtime = fileURLToPath(new URL("runtime.ts", import.meta.url));
const answered = z.object({ answer: z.object({ statusCode: z.literal(200) }) });

/** From the start of a process until it has answered its first live purchase, with everything that is then loaded, read and asked. */
const firstAnswerMs = async (stack: LambdaStack, { path }: Bundle, around: Surroundings): Promise<number> => {
  const seller = stacks.find(({ name }) => name === stack.sellsLike);
  if (seller === undefined) throw new Error(`There is no stack ${stack.sellsLike}`);
  const [key = ""] = await seller.prepare(around, "live", 1);
  const event = around.file("event.json");
  writeFileSync(event, JSON.stringify(purchaseEvent(key)));
  const env = { NODE_ENV: "production", ...seller.environment("live", around), ...around.awsEnvironment() };
  const begun = performance.now();
  const child = fork(runtime, [path, event], { env, stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [message]: unknown[] = await once(child, "message");
  const tookMs = performance.now() - begun;
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
  const [nothing, ours, ...peers] = lines;
  if (nothing === undefined || ours === undefined) throw new Error("Nothing was started");
  const over = ({ timesMs }: Line): readonly number[] =>
    timesMs.map((timeMs, run) => timeMs - (nothing.timesMs[run] ?? Number.NaN));
  const ratio = (line: Line): string =>
    peers.includes(line) ? `${(median(over(ours)) / median(over(line))).toFixed(2)} ×` : "";
  return markdownTable([
    ["first answer of a new process", "ms", "slowest tenth, ms", "over empty, ms", "ours is", "bundle, KB", "gzip, KB"],
    ...lines.map((line) => [
      line.stack.title,
      median(line.timesMs).toFixed(0),
      quantile(line.timesMs, 0.9).toFixed(0),
      line === nothing ? "" : median(over(line)).toFixed(0),
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
