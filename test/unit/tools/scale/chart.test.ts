import { expect, test } from "vitest";
import { settingsOf } from "../../../../infra/stage-settings.ts";
import { stages } from "../../../../stages.ts";
import { drawLimitLoads } from "../../../../tools/scale/chart.ts";
import { limitTitle } from "../../../../tools/scale/limit.ts";
import { type LimitLoads, limitLoads } from "../../../../tools/scale/limit-loads.ts";

const prodLimits = limitLoads(settingsOf("prod", stages));
const [first] = prodLimits;

const limitAt = (...rates: readonly number[]): LimitLoads => {
  if (first === undefined) throw new Error("There is no limit");
  return { ...first, givesAt: rates.map((purchasesPerS) => ({ accounts: 1, purchasesPerS })) };
};
/** Horizontal positions of the dots below the legend. */
const dotsOf = (svg: string): readonly number[] =>
  [...svg.matchAll(/<circle cx="([\d.]+)" cy="(\d+)"/g)].filter(([, , y]) => y !== "14").map(([, x]) => Number(x));

test("a limit that is reached at the same load for any number of accounts has one dot, and others one for each number", () => {
  expect(dotsOf(drawLimitLoads([limitAt(100, 100, 100)]))).toHaveLength(1);
  expect(dotsOf(drawLimitLoads([limitAt(1, 100, 10_000)]))).toHaveLength(3);
});

test("ten times the load is the same distance on the scale everywhere", () => {
  const [one = 0, ten = 0, hundred = 0] = dotsOf(drawLimitLoads([limitAt(1, 10, 100)]));
  expect(ten - one).toBeGreaterThan(0);
  expect(hundred - ten).toBeCloseTo(ten - one, 0);
});

test("a load beyond the scale is drawn at its edge", () => {
  const edge = dotsOf(drawLimitLoads([limitAt(1_000_000, 1_000_000, 1_000_000)]));
  expect(dotsOf(drawLimitLoads([limitAt(10 ** 9, 10 ** 9, 10 ** 9)]))).toEqual(edge);
  const start = dotsOf(drawLimitLoads([limitAt(1, 1, 1)]));
  expect(dotsOf(drawLimitLoads([limitAt(0, 0, 0)]))).toEqual(start);
});

test("every limit is named, and its name fits beside the scale", () => {
  const svg = drawLimitLoads(prodLimits);
  const WIDEST_LETTER = 7;
  for (const { limit } of prodLimits) {
    expect(svg).toContain(`>${limitTitle(limit)}</text>`);
    expect(limitTitle(limit).length * WIDEST_LETTER).toBeLessThan(320);
  }
});
