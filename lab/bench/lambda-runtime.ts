import { aLambdaContext } from "../../test/builders/lambda-context.ts";

/**
 * A process that does what Lambda's runtime does in an instance: loads the bundle, and invokes its handler with one
 * event after the other. It imports nothing that would be loaded for the bundle too.
 */
const startedAtMs = performance.now();
const { handler } = await import(process.argv[2] ?? "");
process.on("message", async (events: readonly unknown[]) => {
  const durationsMs: number[] = [];
  let lastAnswer: unknown;
  const cpuBefore = process.cpuUsage();
  for (const event of events) {
    const invokedAtMs = performance.now();
    const answer = await handler(event, aLambdaContext());
    durationsMs.push(performance.now() - invokedAtMs);
    if (answer.statusCode !== 200) throw new Error(`A purchase was not delivered: ${JSON.stringify(answer)}`);
    lastAnswer = answer;
  }
  const cpu = process.cpuUsage();
  const cpuSinceStartUs = cpu.user + cpu.system;
  const cpuUs = cpuSinceStartUs - cpuBefore.user - cpuBefore.system;
  process.send?.({ durationsMs, cpuUs, cpuSinceStartUs, lastAnswer });
});
process.on("disconnect", () => process.exit());
process.send?.({ initMs: performance.now() - startedAtMs });
