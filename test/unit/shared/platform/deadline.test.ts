import { expect, test } from "vitest";
import {
  abortAfter,
  beforeSettlementMs,
  deadlineIn,
  deadlineWithin,
  debitBudgetMs,
  debitRetryMs,
  settleBudgetMs,
  upstreamBudgetMs,
  withTimeout,
} from "../../../../shared/platform/deadline.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const withLeft = (leftMs: number) => ({ remainingMs: () => leftMs });

test("a deadline of 100 ms has 40 ms left after 60 ms and is overdrawn by 1 ms after 101 ms", () => {
  let nowMs = NOON_MS;
  const deadline = deadlineIn(100, () => nowMs);
  nowMs += 60;
  expect(deadline.remainingMs()).toBe(40);
  nowMs += 41;
  expect(deadline.remainingMs()).toBe(-1);
});

test("a deadline within another one is the earlier one of its budget and of what the other one has without a reserve", () => {
  const clock = () => NOON_MS;
  expect(deadlineWithin(withLeft(5), 3, clock).remainingMs()).toBe(3);
  expect(deadlineWithin(withLeft(5), 9, clock).remainingMs()).toBe(5);
  expect(deadlineWithin(withLeft(5), 3, clock, 4).remainingMs()).toBe(1);
});

test.for([
  [29_000, 20_000],
  [26_000, 20_000],
  [25_000, 19_000],
  [7_000, 1_000],
  [6_000, 0],
  [5_000, -1_000],
] as const)("the upstream's budget with %i ms left is %i ms", ([leftMs, budgetMs]) => {
  expect(upstreamBudgetMs(withLeft(leftMs))).toBe(budgetMs);
});

test("a debit waits for a busy wallet until 16 s are left: 10 s for the upstream and 6 s for settling", () => {
  expect(debitRetryMs(withLeft(29_000))).toBe(13_000);
  expect(debitRetryMs(withLeft(16_000))).toBe(0);
});

test("a debit and a stored result leave 5 s, and a settlement leaves 3.5 s", () => {
  expect(debitBudgetMs(withLeft(7_000))).toBe(2_000);
  expect(beforeSettlementMs(withLeft(7_000))).toBe(2_000);
  expect(settleBudgetMs(withLeft(7_000))).toBe(3_500);
});

test("work with a timeout that ends in time resolves with its result, and its signal is not aborted", async () => {
  const signals: AbortSignal[] = [];
  const result = await withTimeout(1_000, async (signal) => {
    signals.push(signal);
    return 7;
  });
  expect(result).toBe(7);
  expect(signals[0]?.aborted).toBe(false);
});

test("work with a timeout that takes too long is rejected and aborted", async () => {
  const signals: AbortSignal[] = [];
  const work = withTimeout(-5, (signal) => {
    signals.push(signal);
    return new Promise(() => {});
  });
  await expect(work).rejects.toThrow("No time is left");
  expect(signals[0]?.aborted).toBe(true);
});

test("a signal without time left aborts at once", async () => {
  const signal = abortAfter(-1_000);
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
  expect(signal.aborted).toBe(true);
});
