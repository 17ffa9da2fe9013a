import { expect, test } from "vitest";
import {
  type EndedCount,
  IDENTITY,
  ofNetworks,
  totalOf,
  withinMs,
  withinText,
} from "../../../../../console/components/charts/statistics.ts";

const BOUNDS_MS = [1_000, 60_000, 300_000];

const ended = (changes: Partial<EndedCount> = {}): EndedCount => ({
  type: "data",
  network: "MTN",
  status: "success",
  count: 10,
  amount: 5_000,
  latency: [9, 1, 0, 0],
  ...changes,
});

test("failed orders count in the volume, and neither in the sales nor in the latency", () => {
  const failed = ended({ status: "failed", count: 5, latency: [0, 0, 0, 0] });
  expect(totalOf([ended(), failed])).toEqual({ count: 15, successful: 10, amount: 5_000, latency: [9, 1, 0, 0] });
  expect(totalOf([failed])).toEqual({ count: 5, successful: 0, amount: 0, latency: [] });
});

test("networks come in alphabetical order, and identity checks last", () => {
  const counts = [ended({ network: null }), ended({ network: "MTN" }), ended({ network: "Airtel" }), ended()];
  expect(ofNetworks(counts).map(({ network, count }) => [network, count])).toEqual([
    ["Airtel", 10],
    ["MTN", 20],
    [IDENTITY, 10],
  ]);
});

test.each([
  [[95, 5, 0, 0], 1_000, "1 s"],
  [[94, 6, 0, 0], 60_000, "1 min"],
  [[90, 0, 0, 10], Number.POSITIVE_INFINITY, "more than 5 min"],
  [[0, 0, 0, 0], undefined, "–"],
  [[], undefined, "–"],
])("95 of 100 orders with the latencies %j ended within %s ms, shown as %s", (latency, ms, text) => {
  expect(withinMs(latency, BOUNDS_MS)).toBe(ms);
  expect(withinText(latency, BOUNDS_MS)).toBe(text);
});
