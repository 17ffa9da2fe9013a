import { expect, test } from "vitest";
import { nairaField, wholeKobo } from "../../../../shared/contract/naira.ts";

test.for([
  [54.02, 5_402],
  [54.019999999999996, 5_402],
  [54.021, undefined],
  [0.001, undefined],
  [100_000_000.07, 10_000_000_007],
  [Number.MAX_SAFE_INTEGER, undefined],
  [Number.NaN, undefined],
] as const)("%d NGN as whole kobo are %s", ([naira, kobo]) => {
  expect(wholeKobo(naira)).toBe(kobo);
});

test("an amount with floating-point noise is rounded to whole kobo before bounds apply", () => {
  expect(nairaField.min(50).parse(49.99999999999999)).toBe(50);
  expect(nairaField.safeParse(49.999).error?.issues.map(({ message }) => message)).toEqual([
    "Must have at most 2 decimals",
  ]);
  expect(nairaField.safeParse(1e300).error?.issues.map(({ message }) => message)).toEqual(["Is too large"]);
});
