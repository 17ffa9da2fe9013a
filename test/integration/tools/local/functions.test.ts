import { expect, test } from "vitest";
import { invokeWith } from "../../../../tools/local/functions.ts";

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
