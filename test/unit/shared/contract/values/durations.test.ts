import { expect, test } from "vitest";
import { duration } from "../../../../../shared/contract/values/durations.ts";

test("a duration is rounded down to its largest unit, and is never negative", () => {
  expect([-5, 59_999, 60_000, 3_599_999, 86_400_000].map(duration)).toEqual(["0 s", "59 s", "1 min", "59 min", "1 d"]);
});
