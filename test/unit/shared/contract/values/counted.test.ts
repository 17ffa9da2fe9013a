import { expect, test } from "vitest";
import { counted } from "../../../../../shared/contract/values/counted.ts";

test("one is singular, and every other number plural", () => {
  expect([0, 1, 2].map((count) => counted(count, "check"))).toEqual(["0 checks", "1 check", "2 checks"]);
  expect([1, 2].map((count) => counted(count, "entry", "entries"))).toEqual(["1 entry", "2 entries"]);
});

test("a large number has commas between thousands, as amounts have them", () => {
  expect(counted(1_234_567, "row")).toBe("1,234,567 rows");
});
