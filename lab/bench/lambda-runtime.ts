import { aLambdaContext } from "../../test/builders/aws/lambda-context.ts";
import { peakMemoryKb } from "../peak-memory.ts";

/**
 * A process that does what Lambda's runtime does in an instance: loads the bundle, and invokes its handler with one
 * event after the other. It imports nothing that would be loaded for the bundle too.
 */
const startedAtMs = performance.now();
const { handler } = await import(process.argv[2] ?? "");

/** An API function's response, or a consumer's without failed messages. */
const isDone = (answer: { readonly statusCode?: number; readonly batchItemFailures?: readonly unknown[] }): boolean =>
  answer.statusCode === 200 || answer.batchItemFailures?.length === 0;

process.on(
  "message",
  async ({ events, timeoutS }: { readonly events: readonly unknown[]; readonly timeoutS: number }) => {
    const durationsMs: number[] = [];
    let lastAnswer: unknown;
    const before = process.cpuUsage();
    for (const event of events) {
      const invokedAtMs = performance.now();
      const answer = await handler(event, aLambdaContext(timeoutS * 1_000));
      durationsMs.push(performance.now() - invokedAtMs);
      if (!isDone(answer)) throw new Error(`The function did not do its work: ${JSON.stringify(answer)}`);
      lastAnswer = answer;
    }
    const cpu = process.cpuUsage();
    const cpuSinceStartUs = cpu.user + cpu.system;
    const cpuUs = cpuSinceStartUs - before.user - before.system;
    process.send?.({ durationsMs, cpuUs, cpuSinceStartUs, memoryKb: peakMemoryKb("self"), lastAnswer });
  },
);
process.on("disconnect", () => process.exit());
process.send?.({ initMs: performance.now() - startedAtMs });
