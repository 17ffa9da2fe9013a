import { describe, expect, test } from "vitest";
import { deadlineIn, debitRetryMs, upstreamBudgetMs } from "../../../../shared/platform/deadline.ts";
import { isoTime, minuteOf, secondsToNextMinute } from "../../../../shared/platform/time.ts";

const NOON = Date.parse("2026-11-21T12:00:00.000Z");

test("a time is written in UTC with 3 decimals, so that text sorts as time does", () => {
  expect(isoTime(NOON)).toBe("2026-11-21T12:00:00.000Z");
  expect(isoTime(NOON + 7)).toBe("2026-11-21T12:00:00.007Z");
});

test("a minute lasts from :00.000 to :59.999", () => {
  expect(minuteOf(NOON)).toBe(minuteOf(NOON + 59_999));
  expect(minuteOf(NOON + 60_000)).toBe(minuteOf(NOON) + 1);
  expect(minuteOf(NOON - 1)).toBe(minuteOf(NOON) - 1);
});

describe("the next minute begins", () => {
  test.for([
    [0, 60],
    [1, 60],
    [1_000, 59],
    [30_500, 30],
    [58_999, 2],
    [59_000, 1],
    [59_999, 1],
  ] as const)("%i ms into a minute: in %i s", ([intoMs, seconds]) => {
    expect(secondsToNextMinute(NOON + intoMs)).toBe(seconds);
  });
});

test("a wait in seconds is never so short that the old minute still counts, at 600 moments of a minute", () => {
  const early: number[] = [];
  for (let atMs = NOON; atMs < NOON + 60_000; atMs += 100) {
    if (minuteOf(atMs + secondsToNextMinute(atMs) * 1_000) === minuteOf(atMs)) early.push(atMs);
  }
  expect(early).toEqual([]);
});

describe("the upstream gets", () => {
  test.for([
    [29_000, 20_000],
    [26_000, 20_000],
    [25_000, 19_000],
    [7_000, 1_000],
    [6_000, 0],
    [5_000, -1_000],
  ] as const)("of %i ms that are left: %i ms", ([leftMs, budgetMs]) => {
    expect(upstreamBudgetMs({ remainingMs: () => leftMs })).toBe(budgetMs);
  });
});

test("a deadline of 100 ms has 40 ms left after 60 ms and is overdrawn by 1 ms after 101 ms", () => {
  let nowMs = NOON;
  const deadline = deadlineIn(100, () => nowMs);
  nowMs += 60;
  expect(deadline.remainingMs()).toBe(40);
  nowMs += 41;
  expect(deadline.remainingMs()).toBe(-1);
});

test("a debit waits for its wallet until 16 s are left: 10 s for the upstream and 6 s for settling", () => {
  expect(debitRetryMs({ remainingMs: () => 29_000 })).toBe(13_000);
  expect(debitRetryMs({ remainingMs: () => 16_000 })).toBe(0);
});
