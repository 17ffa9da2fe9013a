import fc from "fast-check";
import { expect, test } from "vitest";
import { koboFromText, nairaField, wholeKobo } from "../../../../shared/contract/naira.ts";

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

test.for([
  ["500", 500_00],
  ["500.5", 500_50],
  ["0.05", 5],
  [" 1250.50 ", 1_250_50],
  ["1,250.50", 1_250_50],
  ["50,000", 50_000_00],
  ["12,345,678.90", 12_345_678_90],
  ["-500", -500_00],
  ["+1,000", 1_000_00],
] as const)("the typed amount '%s' is %i kobo", ([text, kobo]) => {
  expect(koboFromText(text)).toBe(kobo);
});

test.for([
  ...["500,00", "1,00", "1,0000", "12,34,567", "1250,50", "1234,567", ",500", "500,", "1,,000", "0,500", "1,000.5,0"],
  ...["1.250,50", "1.005", "1 250", "1e3", "0x10", "NaN", "--5", "NGN 500", "٥٠٠", "1234567890123", ""],
])("the typed amount '%s' is refused, because a comma or a point may mean something else", (text) => {
  expect(koboFromText(text)).toBeUndefined();
});

test("an amount that the service shows can be typed as it is", () => {
  const shown = new Intl.NumberFormat("en-NG", { minimumFractionDigits: 2 });
  fc.assert(
    fc.property(fc.integer({ min: -999_999_999_999, max: 999_999_999_999 }), (kobo) => {
      expect(koboFromText(shown.format(kobo / 100))).toBe(kobo === 0 ? 0 : kobo);
    }),
  );
});
