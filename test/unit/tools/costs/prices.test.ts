import { expect, test } from "vitest";
import * as z from "#zod";
import { dollarsOf, priceNames, prices } from "../../../../tools/costs/prices.ts";

test.each(priceNames)("the price of %s has a source with its date and the date of reading", (name) => {
  const { dollars, per, unit, source } = prices[name];
  expect(dollars).toBeGreaterThan(0);
  expect(per).toBeGreaterThan(0);
  expect(unit).not.toBe("");
  expect(z.url({ protocol: /^https$/ }).safeParse(source.url).success).toBe(true);
  expect(z.iso.date().safeParse(source.read).success).toBe(true);
  expect(source.dated === "undated" || source.dated <= source.read).toBe(true);
});

test("the dollars of a usage are the sum of its units at their prices", () => {
  const usage = { writeUnits: 7_000_000, queueRequests: 3_000_000, fairQueueRequests: 3_000_000 };
  expect(dollarsOf(usage)).toBeCloseTo(7 * 0.625 + 3 * 0.5, 9);
});
