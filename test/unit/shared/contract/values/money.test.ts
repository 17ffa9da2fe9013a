import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "#zod";
import {
  koboFromNaira,
  koboFromNairaOrUndefined,
  koboFromSentNaira,
  koboFromText,
  koboMoneyText,
  koboSchema,
  koboText,
  moneyText,
  nairaDecimals,
  nairaField,
  nairaFromKobo,
  shortMoneyText,
  wholeKobo,
} from "../../../../../shared/contract/values/money.ts";

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
  expect(nairaField.check(z.minimum(50)).parse(49.99999999999999)).toBe(50);
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

test("an amount has separators of thousands, two decimals and its sign", () => {
  expect([125_050, -5, 0].map(koboText)).toEqual(["1,250.50", "-0.05", "0.00"]);
});

test("an amount is shown with its currency, for an axis, and with decimals alone", () => {
  expect(moneyText(-1_250.5)).toBe("-NGN 1,250.50");
  expect(koboMoneyText(125_050)).toBe("NGN 1,250.50");
  expect([1_250.5, -500].map(shortMoneyText)).toEqual(["NGN 1.3K", "-NGN 500"]);
  expect(nairaDecimals(1_250.5)).toBe("1250.50");
});

describe("koboFromNaira", () => {
  test.each([
    [0, 200_000],
    [999_950_000, 1_000_050_000],
  ])("kobo converted to NGN and back are the same, for each amount from %i to %i", (from, to) => {
    const changed: number[] = [];
    for (let kobo = from; kobo <= to; kobo += 1) {
      if (koboFromNaira(nairaFromKobo(koboSchema.parse(kobo))) !== kobo) changed.push(kobo);
    }
    expect(changed).toEqual([]);
  });
});

describe("koboFromSentNaira", () => {
  test.for([
    [500, 50_000],
    [54.019999999999996, 5_402],
    ["500", 50_000],
    ["500.00", 50_000],
    [" 54.02\n", 5_402],
    ["0.29", 29],
    ["54.019999999999996", 5_402],
    ["0", 0],
  ] as const)("the sent amount %j is %i kobo", ([sent, kobo]) => {
    expect(koboFromSentNaira(sent)).toBe(kobo);
  });

  const wrong: readonly unknown[] = [
    ...["", " ", ".", "5.", ".5", "-5", "+5", "5e2", "0x10", "1,500.00", "NGN 500", "0.001", "9999999999999999", "NaN"],
    ...[-5, 0.001, Number.NaN, Number.POSITIVE_INFINITY, null, undefined, true, {}, [500], 500n],
  ];
  test("an amount that is not a whole number of kobo, or not plain decimal text, is undefined", () => {
    expect(wrong.filter((sent) => koboFromSentNaira(sent) !== undefined)).toEqual([]);
  });
});

describe("floating-point error", () => {
  test.for([
    [54.019999999999996, 5_402],
    [55.00000000000001, 5_500],
    [0.1 + 0.2, 30],
    [54.02 + 0.9e-8, 5_402],
    [54.02 - 0.9e-8, 5_402],
    [1e-9, 0],
  ] as const)("an error within a millionth of a kobo is rounded away: %d NGN are %i kobo", ([naira, kobo]) => {
    expect(koboFromNaira(naira)).toBe(kobo);
    expect(koboFromNairaOrUndefined(naira)).toBe(kobo);
  });

  test("100,000 products and sums up to 10,000,000 NGN keep their amount despite floating-point error", () => {
    const changed: number[] = [];
    for (let round = 1; round <= 100_000; round += 1) {
      const kobo = (round * 7_919_993) % 1_000_000_000;
      const noisy = [(kobo / 100) * 1.1 * (1 / 1.1), kobo / 100 + 0.1 - 0.1, kobo * 0.01];
      if (noisy.some((naira) => koboFromNairaOrUndefined(naira) !== kobo)) changed.push(kobo);
    }
    expect(changed).toEqual([]);
  });

  test("floating-point error beyond the precision of doubles is refused, and exact amounts there are accepted", () => {
    const exact = 123_456_789_012.34;
    expect(koboFromNairaOrUndefined(exact)).toBe(12_345_678_901_234);
    expect(koboFromNairaOrUndefined(exact + 2 ** -16)).toBeUndefined();
  });
});

test.for([
  ["three decimals", 1.005],
  ["1.1 millionths of a kobo more than a whole one", 54.02 + 1.1e-8],
  ["1.1 millionths of a kobo less than a whole one", 54.02 - 1.1e-8],
  ["less than one kobo", 0.001],
  ["less than nothing", -1],
  ["not a number", Number.NaN],
  ["infinite", Number.POSITIVE_INFINITY],
  ["more than a double counts exactly", 1e15],
] as const)("an amount of NGN that is or has %s is refused", ([, naira]) => {
  expect(() => koboFromNaira(naira)).toThrow();
  expect(koboFromNairaOrUndefined(naira)).toBeUndefined();
});

test("kobo that are half, negative or beyond 2^53 are refused", () => {
  const refused = [0.5, -1, 2 ** 53].map((value) => koboSchema.safeParse(value).success);
  expect(refused).toEqual([false, false, false]);
});
