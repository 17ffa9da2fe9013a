import { describe, expect, test } from "vitest";
import { deadlineIn, debitRetry_ms, upstreamBudget_ms } from "../../../../shared/platform/deadline.ts";
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
  ] as const)("%i ms into a minute: in %i s", ([into_ms, seconds]) => {
    expect(secondsToNextMinute(NOON + into_ms)).toBe(seconds);
  });
});

test("a wait in seconds is never so short that the old minute still counts, at 600 moments of a minute", () => {
  const early: number[] = [];
  for (let at_ms = NOON; at_ms < NOON + 60_000; at_ms += 100) {
    if (minuteOf(at_ms + secondsToNextMinute(at_ms) * 1_000) === minuteOf(at_ms)) early.push(at_ms);
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
  ] as const)("of %i ms that are left: %i ms", ([left_ms, budget_ms]) => {
    expect(upstreamBudget_ms({ remaining_ms: () => left_ms })).toBe(budget_ms);
  });
});

test("a deadline of 100 ms has 40 ms left after 60 ms and is overdrawn by 1 ms after 101 ms", () => {
  let now_ms = NOON;
  const deadline = deadlineIn(100, () => now_ms);
  now_ms += 60;
  expect(deadline.remaining_ms()).toBe(40);
  now_ms += 41;
  expect(deadline.remaining_ms()).toBe(-1);
});

test("a debit waits for its wallet until 16 s are left: 10 s for the upstream and 6 s for settling", () => {
  expect(debitRetry_ms({ remaining_ms: () => 29_000 })).toBe(13_000);
  expect(debitRetry_ms({ remaining_ms: () => 16_000 })).toBe(0);
});
