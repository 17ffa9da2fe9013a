import { expect, test } from "vitest";
import {
  decideNextStep,
  FAILING_MS_MAX,
  probeIntervalMs,
  QUEUE_WAIT_MS_MAX,
  retryDelaysS,
} from "../../../../shared/webhooks/next-step.ts";
import type { PostResult } from "../../../../shared/webhooks/post-result.ts";

const NOW = Date.parse("2026-11-21T09:30:00.000Z");
const context = { attempt: 1, failingSinceMs: undefined, nowMs: NOW, random: 0 };
const answered = (status: number): PostResult => ({ kind: "answered", status, bytes: 2, headers: {} });
const timeout: PostResult = { kind: "failed", reason: "timeout" };

test("retries wait 5 s, 1 min, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, with up to 10 % on top, and the ninth failure exhausts", () => {
  const nextSteps = (random: number) =>
    Array.from({ length: 9 }, (_, index) => decideNextStep(answered(500), { ...context, attempt: index + 1, random }));
  const minute = 60;
  const hour = 3_600;
  const planned = [5, minute, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour];
  expect(retryDelaysS).toEqual(planned);
  expect(nextSteps(0)).toEqual([...planned.map((afterS) => ({ kind: "retry", afterS })), { kind: "exhausted" }]);
  for (const [index, nextStep] of nextSteps(0.999_999).slice(0, 8).entries()) {
    const afterS = nextStep.kind === "retry" ? nextStep.afterS : 0;
    expect(afterS).toBeGreaterThan((planned[index] ?? 0) * 1.099);
    // SQS hides a message for at most 12 hours.
    expect(afterS).toBeLessThanOrEqual(Math.min(43_200, (planned[index] ?? 0) * 1.1));
  }
});

test.each([200, 201, 202, 204, 299])(
  "a webhook answered with %i is delivered, even at an endpoint that failed for 6 days",
  (status) => {
    const failingSinceMs = NOW - 6 * 24 * 3_600_000;
    expect(decideNextStep(answered(status), { ...context, failingSinceMs })).toEqual({ kind: "delivered" });
  },
);

test.each([199, 300, 301, 302, 304, 307, 400, 401, 404, 409, 429, 500, 503])(
  "a webhook answered with %i is retried",
  (status) => {
    expect(decideNextStep(answered(status), context)).toEqual({ kind: "retry", afterS: 5 });
  },
);

test("a time-out, a refused address and a 200 that is too large are retried", () => {
  const tooLarge: PostResult = { kind: "failed", reason: "too_large", status: 200 };
  for (const result of [timeout, tooLarge, { kind: "failed", reason: "address_refused" } satisfies PostResult]) {
    expect(decideNextStep(result, context)).toEqual({ kind: "retry", afterS: 5 });
  }
});

test("410 switches the endpoint off at the first attempt, however large the response is", () => {
  const gone = { kind: "switch_off", reason: "gone" };
  expect(decideNextStep(answered(410), context)).toEqual(gone);
  expect(decideNextStep({ kind: "failed", reason: "too_large", status: 410 }, context)).toEqual(gone);
});

test("five days of failure switch the endpoint off, and one millisecond less does not", () => {
  const off = { kind: "switch_off", reason: "failing_for_days" };
  expect(decideNextStep(timeout, { ...context, failingSinceMs: NOW - FAILING_MS_MAX })).toEqual(off);
  expect(decideNextStep(timeout, { ...context, failingSinceMs: NOW - FAILING_MS_MAX + 1 })).toEqual({
    kind: "retry",
    afterS: 5,
  });
});

test.each([
  ["has just begun to fail", 0, 60_000],
  ["has failed for 2 minutes", 120_000, 120_000],
  ["has failed for an hour", 3_600_000, 300_000],
  ["seems to fail from a later time on, by another clock", -5_000, 60_000],
])("an endpoint that %s is probed again after %i ms", (_title, failingMs, expectedMs) => {
  expect(probeIntervalMs(NOW - failingMs, NOW)).toBe(expectedMs);
});

test("the first three waits are spent in the queue, and the longer ones are not, whatever the jitter", () => {
  const waitsInQueue = retryDelaysS.filter((delayS) => delayS * 1.1 * 1_000 <= QUEUE_WAIT_MS_MAX);
  expect(waitsInQueue).toEqual([5, 60, 300]);
  expect(retryDelaysS.filter((delayS) => delayS * 1_000 > QUEUE_WAIT_MS_MAX)).toEqual(retryDelaysS.slice(3));
});
