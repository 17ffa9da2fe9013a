import { describe, expect, test } from "vitest";
import { koboFromNaira, koboSchema, nairaFromKobo } from "../../shared/platform/money.ts";

describe("NGN become whole kobo", () => {
  test.for([
    [0, 0],
    [0.01, 1],
    [0.29, 29],
    [1.15, 115],
    [50, 5_000],
    [485.5, 48_550],
    [1_425.9, 142_590],
    [19.99, 1_999],
    [50_000, 5_000_000],
    [9_999_999.99, 999_999_999],
  ] as const)("%d NGN are %i kobo", ([naira, kobo]) => {
    expect(koboFromNaira(naira)).toBe(kobo);
  });

  test("and back, for each of the 200,001 amounts from 0 to 2,000 NGN", () => {
    const lost: number[] = [];
    for (let kobo = 0; kobo <= 200_000; kobo += 1) {
      if (koboFromNaira(nairaFromKobo(koboSchema.parse(kobo))) !== kobo) lost.push(kobo);
    }
    expect(lost).toEqual([]);
  });

  test("and back, for 100,000 amounts around 10,000,000 NGN", () => {
    const lost: number[] = [];
    for (let kobo = 999_950_000; kobo <= 1_000_050_000; kobo += 1) {
      if (koboFromNaira(nairaFromKobo(koboSchema.parse(kobo))) !== kobo) lost.push(kobo);
    }
    expect(lost).toEqual([]);
  });
});

test.for([
  ["three decimals", 1.005],
  ["a sum that floating point spoilt", 0.1 + 0.2],
  ["less than one kobo", 0.001],
  ["less than nothing", -1],
  ["not a number", Number.NaN],
  ["infinite", Number.POSITIVE_INFINITY],
  ["more than a double counts exactly", 1e15],
] as const)("an amount of NGN is refused that is or has %s", ([, naira]) => {
  expect(() => koboFromNaira(naira)).toThrow();
});

test("kobo are refused that are half, negative, or beyond 2^53", () => {
  const refused = [0.5, -1, 2 ** 53].map((value) => koboSchema.safeParse(value).success);
  expect(refused).toEqual([false, false, false]);
});
