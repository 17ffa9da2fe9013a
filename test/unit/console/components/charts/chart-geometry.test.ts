import fc from "fast-check";
import { expect, test } from "vitest";
import {
  labelledIndexes,
  placeOn,
  roundMarks,
  runsOf,
} from "../../../../../console/components/charts/chart-geometry.ts";

test.for([
  [[], [0, 1]],
  [
    [0, 0],
    [0, 1],
  ],
  [[1], [0, 1]],
  [
    [3, 7],
    [0, 2, 4, 6, 8],
  ],
  [[100_000], [0, 50_000, 100_000]],
  [[145_100.5], [0, 50_000, 100_000, 150_000]],
  [[0.3], [0, 0.1, 0.2, 0.3]],
  [
    [-20, 50],
    [-20, 0, 20, 40, 60],
  ],
] as const)("the marks for %j are %j", ([values, marks]) => {
  expect(roundMarks(values)).toEqual(marks);
});

const amount = fc.integer({ min: 0, max: 1e14 }).map((kobo) => kobo / 100);

test("the marks of any amounts include them all, and are few", () => {
  fc.assert(
    fc.property(fc.array(amount, { minLength: 1 }), (values) => {
      const marks = roundMarks(values);
      expect(marks[0]).toBe(0);
      expect(marks.at(-1)).toBeGreaterThanOrEqual(Math.max(...values) * (1 - 1e-8));
      expect(marks.length).toBeLessThanOrEqual(6);
    }),
  );
});

test("powers have the same distance on a logarithmic axis", () => {
  const place = placeOn([1, 10, 100], "log");
  expect([1, 10, 100].map(place).map((each) => Math.round(each * 1_000))).toEqual([0, 500, 1_000]);
  expect(placeOn([0, 100], "linear")(25)).toBe(0.25);
});

test("a line is interrupted where a value is missing", () => {
  expect(runsOf([null, 1, 2, null, 3])).toEqual([
    [
      { index: 1, value: 1 },
      { index: 2, value: 2 },
    ],
    [{ index: 4, value: 3 }],
  ]);
  expect(runsOf([null])).toEqual([]);
});

test("labels are left out where they have no room, and the last one is shown", () => {
  expect(labelledIndexes(5, 100, 80)).toEqual([0, 1, 2, 3, 4]);
  expect(labelledIndexes(30, 20, 90)).toEqual([4, 9, 14, 19, 24, 29]);
  expect(labelledIndexes(0, 20, 90)).toEqual([]);
});
