import { aLambdaContext } from "../../../test/builders/lambda-context.ts";
import { peakMemoryKb } from "../../peak-memory.ts";
import type { Invocation, Invoked } from "./invocation.ts";

/**
 * A process that does what Lambda's runtime does: loads the bundle, and invokes its handler with one event at a time.
 * It imports nothing that would take time beside the bundle.
 */
const [bundle = ""] = process.argv.slice(2);
const { handler } = await import(bundle);
const send = (message: Invoked): void => void process.send?.(message);

process.on("message", async ({ event, timeoutS }: Invocation) => {
  const before = process.cpuUsage();
  const beginMs = performance.now();
  const answer: unknown = await handler(event, aLambdaContext(timeoutS * 1_000));
  const durationMs = performance.now() - beginMs;
  const { user, system } = process.cpuUsage(before);
  send({ answer, durationMs, cpuMs: (user + system) / 1_000, memoryKb: peakMemoryKb("self") });
});
process.on("disconnect", () => process.exit());
process.send?.("loaded");
