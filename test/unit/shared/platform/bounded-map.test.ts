import { expect, test } from "vitest";
import { boundedMap } from "../../../../shared/platform/bounded-map.ts";

test("a bounded map keeps the keys that were set last, each with its last value", () => {
  const map = boundedMap<string, number>(2);
  const set = (key: string, value: number) => {
    map.set(key, value);
    return ["a", "b", "c"].map((each) => map.get(each));
  };
  expect(set("a", 1)).toEqual([1, undefined, undefined]);
  expect(set("b", 2)).toEqual([1, 2, undefined]);
  expect(set("a", 3)).toEqual([3, 2, undefined]);
  expect(set("c", 4)).toEqual([3, undefined, 4]);
  expect(set("b", 5)).toEqual([undefined, 5, 4]);
});
