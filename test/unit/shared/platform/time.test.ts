import { expect, test } from "vitest";
import { isoTime, isRecent, minuteOf, secondsToNextMinute } from "../../../../shared/platform/time.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

test("isoTime is UTC with 3 decimals, so that times sort as text", () => {
  expect(isoTime(NOON_MS)).toBe("2026-11-21T12:00:00.000Z");
  expect(isoTime(NOON_MS + 7)).toBe("2026-11-21T12:00:00.007Z");
});

test("a time is recent from its own millisecond until the time is up, and never ahead of the clock", () => {
  const recent = [-1, 0, 999, 1_000].map((afterMs) => isRecent(NOON_MS, 1_000, NOON_MS + afterMs));
  expect(recent).toEqual([false, true, true, false]);
  expect(isRecent(Number.NEGATIVE_INFINITY, 1_000, NOON_MS)).toBe(false);
});

test("a minute lasts from :00.000 to :59.999", () => {
  expect(minuteOf(NOON_MS)).toBe(minuteOf(NOON_MS + 59_999));
  expect(minuteOf(NOON_MS + 60_000)).toBe(minuteOf(NOON_MS) + 1);
  expect(minuteOf(NOON_MS - 1)).toBe(minuteOf(NOON_MS) - 1);
});

test.for([
  [0, 60],
  [1, 60],
  [1_000, 59],
  [30_500, 30],
  [58_999, 2],
  [59_000, 1],
  [59_999, 1],
] as const)("%i ms into a minute, the next minute begins in %i s", ([intoMs, seconds]) => {
  expect(secondsToNextMinute(NOON_MS + intoMs)).toBe(seconds);
});

test("secondsToNextMinute reaches the next minute from 600 times of a minute", () => {
  const early: number[] = [];
  for (let atMs = NOON_MS; atMs < NOON_MS + 60_000; atMs += 100) {
    if (minuteOf(atMs + secondsToNextMinute(atMs) * 1_000) === minuteOf(atMs)) early.push(atMs);
  }
  expect(early).toEqual([]);
});
