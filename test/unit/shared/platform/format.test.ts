import { expect, test } from "vitest";
import { duration, naira } from "../../../../shared/platform/format.ts";

test("an amount has separators of thousands, two decimals and its sign", () => {
  expect([125_050, -5, 0].map(naira)).toEqual(["1,250.50", "-0.05", "0.00"]);
});

test("a duration is rounded down to its largest unit, and is never negative", () => {
  expect([-5, 59_999, 60_000, 3_599_999, 86_400_000].map(duration)).toEqual(["0 s", "59 s", "1 min", "59 min", "1 d"]);
});
