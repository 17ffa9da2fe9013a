import { expect, test } from "vitest";
import { clockOffsetMs } from "../../../../tools/admin/aws-clock.ts";

/** Goal: a wrong clock is found by one answer of AWS, whose date has whole seconds, and a right one is left alone. */
const NOON_MS = Date.parse("2026-11-21T12:00:00.000Z");

test.each([
  ["dates the second in which it was asked for", { sent: 100, received: 300, date: 0 }, 0],
  ["was asked for in the second before its date", { sent: -50, received: 20, date: 0 }, 0],
  ["came in the second after its date", { sent: 900, received: 1_400, date: 0 }, 0],
  ["was written in the last moment that its date allows", { sent: 999, received: 1_100, date: 0 }, 0],
  ["was written before it was asked for", { sent: 1_001, received: 1_201, date: 0 }, -601],
  ["was written after it came", { sent: -300, received: -1, date: 0 }, 650],
  ["is an hour ahead", { sent: 100, received: 300, date: 3_600_000 }, 3_600_300],
  ["is an hour behind", { sent: 100, received: 300, date: -3_600_000 }, -3_599_700],
])("a clock whose answer %s", (_title, { sent, received, date }, offsetMs) => {
  const answer = { sentMs: NOON_MS + sent, receivedMs: NOON_MS + received, dateMs: NOON_MS + date };
  expect(clockOffsetMs(answer)).toBe(offsetMs);
});
