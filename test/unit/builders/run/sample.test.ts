import { expect, test } from "vitest";
import { offsetsOf } from "../../../builders/run/sample.ts";

test("each choice of a seed comes with each other one", () => {
  const steps = [2, 30, 12];
  const seeds = Array.from({ length: 2 * 30 * 12 }, (_, index) => 876_543_210 + index);
  expect(new Set(seeds.map((seed) => offsetsOf(seed, steps).join(" "))).size).toBe(seeds.length);
});
