import { expect, test } from "vitest";
import { invokeWith, untilNoneRuns } from "../../../../tools/local/functions.ts";

test.each([
  ["reconcile-ledger", 300_000],
  ["purchase", 29_000],
  ["receive-upstream-event", 10_000],
])("%s is invoked with %i ms left, its time-out on AWS", async (name, timeMs) => {
  const remaining = async (_event: unknown, context: { getRemainingTimeInMillis(): number }) =>
    context.getRemainingTimeInMillis();
  const leftMs = Number(await invokeWith(new Map([[name, remaining]]))(name, {}));
  expect(leftMs).toBeGreaterThan(timeMs - 1_000);
  expect(leftMs).toBeLessThanOrEqual(timeMs);
});

test("a function that has timed out runs on in this process, and its end can be awaited", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let hasEnded = false;
  const slow = async () => {
    await released;
    hasEnded = true;
  };
  const endless = () => new Promise(() => {});
  for (const [name, handler] of [
    ["slow", slow],
    ["endless", endless],
  ] as const) {
    await expect(invokeWith(new Map([[name, handler]]), 1)(name, {})).rejects.toThrow(name);
  }
  const none = untilNoneRuns("slow");
  release();
  await none;
  expect(hasEnded).toBe(true);
});
