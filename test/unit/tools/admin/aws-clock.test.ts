import { expect, test } from "vitest";
import { clockOffsetMs } from "../../../../tools/admin/aws-clock.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

test.each([
  ["has the date of the second in which the request was sent", { sent: 100, received: 300, date: 0 }, 0],
  ["was requested in the second before its date", { sent: -50, received: 20, date: 0 }, 0],
  ["was received in the second after its date", { sent: 900, received: 1_400, date: 0 }, 0],
  ["was requested in the last millisecond of its date's second", { sent: 999, received: 1_100, date: 0 }, 0],
  ["has a date before the request was sent", { sent: 1_001, received: 1_201, date: 0 }, -601],
  ["has a date after it was received", { sent: -300, received: -1, date: 0 }, 650],
  ["is dated an hour ahead", { sent: 100, received: 300, date: 3_600_000 }, 3_600_300],
  ["is dated an hour behind", { sent: 100, received: 300, date: -3_600_000 }, -3_599_700],
])("the clock offset by a response that %s", (_title, { sent, received, date }, offsetMs) => {
  const answer = { sentMs: NOON_MS + sent, receivedMs: NOON_MS + received, dateMs: NOON_MS + date };
  expect(clockOffsetMs(answer)).toBe(offsetMs);
});
