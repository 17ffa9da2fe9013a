import { expect, test } from "vitest";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { fromMovingStart } from "../../../../shared/platform/moving-start.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

test.each([0, 1, 7])("of %i items none is left out, and each follows the one before it", (count) => {
  for (let minute = 0; minute < 20; minute += 1) {
    const items = fromMovingStart(numbers(count), NOON_MS + minute * MINUTE_MS);
    const [first = 0] = items;
    expect(items).toEqual(numbers(count).map((index) => (first + index) % count));
  }
});

test.each([
  [10, 2],
  [100, 1_000],
  [1_000, 20_000],
])("runs that take %i of many items have taken all %i within four times as many runs as that needs", (each, count) => {
  const taken = new Set<number>();
  for (let run = 0; run < 4 * Math.ceil(count / each); run += 1) {
    for (const item of fromMovingStart(numbers(count), NOON_MS + run * MINUTE_MS).slice(0, each)) taken.add(item);
  }
  expect(taken.size).toBe(count);
});

test("runs of one minute begin with the same item", () => {
  const begun = [0, MINUTE_MS - 1].map((laterMs) => fromMovingStart(numbers(1_000), NOON_MS + laterMs)[0]);
  expect(new Set(begun).size).toBe(1);
});
