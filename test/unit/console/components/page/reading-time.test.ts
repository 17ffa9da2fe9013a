import { expect, test } from "vitest";
import { shownMs } from "../../../../../console/components/page/reading-time.ts";

test.for([
  ["The keys were changed.", 6_000],
  ["12 webhooks are on the way. There are more since 2026-11-21T09:30:00.000Z: replay again from that time.", 10_300],
] as const)('the announcement "%s" is shown for long enough to be read', ([sentence, ms]) => {
  expect(shownMs(sentence)).toBe(ms);
});
