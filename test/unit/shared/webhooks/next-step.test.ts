import { expect, test } from "vitest";
import {
  decideNextStep,
  FAILING_MS_MAX,
  type PostResult,
  retryDelaysS,
} from "../../../../shared/webhooks/next-step.ts";

const NOW = Date.parse("2026-11-21T09:30:00.000Z");
const circumstances = { attempt: 1, failingSinceMs: undefined, nowMs: NOW, random: 0 };
const answered = (status: number): PostResult => ({ kind: "answered", status, bytes: 2 });
const timeout: PostResult = { kind: "failed", reason: "timeout" };

test("the waits are 5 s, 1 min, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h, each with 0 to 10 % on top; the ninth failure is the last", () => {
  const waits = (random: number) =>
    Array.from({ length: 9 }, (_, index) =>
      decideNextStep(answered(500), { ...circumstances, attempt: index + 1, random }),
    );
  const minute = 60;
  const hour = 3_600;
  const planned = [5, minute, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour];
  expect(retryDelaysS).toEqual(planned);
  expect(waits(0)).toEqual([...planned.map((afterS) => ({ kind: "retry", afterS })), { kind: "exhausted" }]);
  for (const [index, settlement] of waits(0.999_999).slice(0, 8).entries()) {
    const afterS = settlement.kind === "retry" ? settlement.afterS : 0;
    expect(afterS).toBeGreaterThan((planned[index] ?? 0) * 1.099);
    // SQS hides a message for at most 12 hours.
    expect(afterS).toBeLessThanOrEqual(Math.min(43_200, (planned[index] ?? 0) * 1.1));
  }
});

test.each([200, 201, 202, 204, 299])("%i means delivered, even at an endpoint that failed for 6 days", (status) => {
  const failingSinceMs = NOW - 6 * 24 * 3_600_000;
  expect(decideNextStep(answered(status), { ...circumstances, failingSinceMs })).toEqual({ kind: "delivered" });
});

test.each([199, 300, 301, 302, 304, 307, 400, 401, 404, 409, 429, 500, 503])("%i is tried again", (status) => {
  expect(decideNextStep(answered(status), circumstances)).toEqual({ kind: "retry", afterS: 5 });
});

test("a time-out, a refused address and a 200 with too much behind it are tried again", () => {
  const tooLarge: PostResult = { kind: "failed", reason: "too_large", status: 200 };
  for (const result of [timeout, tooLarge, { kind: "failed", reason: "address_refused" } satisfies PostResult]) {
    expect(decideNextStep(result, circumstances)).toEqual({ kind: "retry", afterS: 5 });
  }
});

test("410 switches the endpoint off at the first attempt, however long its answer is", () => {
  const gone = { kind: "switch_off", reason: "gone" };
  expect(decideNextStep(answered(410), circumstances)).toEqual(gone);
  expect(decideNextStep({ kind: "failed", reason: "too_large", status: 410 }, circumstances)).toEqual(gone);
});

test("five days of failure switch the endpoint off, one millisecond less does not", () => {
  const off = { kind: "switch_off", reason: "failing_for_days" };
  expect(decideNextStep(timeout, { ...circumstances, failingSinceMs: NOW - FAILING_MS_MAX })).toEqual(off);
  expect(decideNextStep(timeout, { ...circumstances, failingSinceMs: NOW - FAILING_MS_MAX + 1 })).toEqual({
    kind: "retry",
    afterS: 5,
  });
});
