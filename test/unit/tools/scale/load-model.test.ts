import { expect, test } from "vitest";
import { type Access, accessesOf, places, simulate } from "../../../../tools/scale/load-model.ts";
import { SimulatedTable } from "../../../../tools/scale/simulated-table.ts";
import { writeUnits } from "../../../../tools/scale/usage.ts";

const order = {
  accountId: "acc_1",
  keyHash: "0e",
  transactionId: "0123456789ABCDEFGHJKMNPQRS",
  upstreamReference: "UP-1",
  phoneKey: "p",
};

test("a purchase of the model writes as many units to each table and index as tests count on the wire", () => {
  const accesses: readonly Access[] = accessesOf(order).flat();
  const units = places.map((place) => [
    place,
    accesses.filter((access) => access.place === place).reduce((sum, { write }) => sum + write, 0),
  ]);
  const { access, ledger, by_list, by_upstream_reference, by_open, by_phone } = writeUnits;
  const list = by_list.transaction + by_list.delivery;
  expect(Object.fromEntries(units)).toEqual({
    ...{ access, ledger, cache: 0, by_list: list, by_upstream_reference, by_open, by_phone },
  });
});

test("2,000 purchases a second use no key for more than a quarter of what a partition takes", async () => {
  const loads = await simulate(2_000, 3);
  expect(loads.map(({ place }) => place)).toEqual(places);
  for (const { place, table } of loads) expect(table.hottest.share, place).toBeLessThan(0.25);
  expect(loads.find(({ place }) => place === "by_open")?.table.hottest.key).toMatch(/^live#.$/);
});

test("a partition that two keys use above its maximum is divided after five minutes, and one key never is", () => {
  const table = new SimulatedTable(0);
  const carry = (keys: readonly string[], units: number): number => {
    const before = table.throttled;
    for (const key of keys) table.use(key, units, 0);
    table.endSecond(0);
    return table.throttled - before;
  };
  // Four of them are in the same of four partitions, at least.
  const keys = Array.from({ length: 13 }, (_, number) => `live#${number}`);
  expect(carry(keys, 300)).toBeGreaterThan(0);
  for (let second = 1; second < 2 * 300; second += 1) carry(keys, 300);
  expect(carry(keys, 300)).toBe(0);
  for (let second = 0; second < 2 * 300; second += 1) carry(["live#0"], 1_500);
  expect(carry(["live#0"], 1_500)).toBe(500);
});
