import { expect, test } from "vitest";
import { counted } from "../../../../shared/contract/counted.ts";

test("one is singular, and every other number plural", () => {
  expect([0, 1, 2].map((count) => counted(count, "check"))).toEqual(["0 checks", "1 check", "2 checks"]);
  expect([1, 2].map((count) => counted(count, "entry", "entries"))).toEqual(["1 entry", "2 entries"]);
});
