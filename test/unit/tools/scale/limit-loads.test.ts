import { expect, test } from "vitest";
import { settingsOf } from "../../../../infra/stage-settings.ts";
import { stages } from "../../../../stages.ts";
import { requestCosts } from "../../../../tools/costs/costs.ts";
import { shareOf } from "../../../../tools/scale/limit.ts";
import { cells, limitLoads, monthlyDollars, purchasesAt } from "../../../../tools/scale/limit-loads.ts";

const settings = settingsOf("prod", stages);
const cellOf = (purchasesPerS: number, accounts: number) =>
  cells(settings).find(({ load }) => load.purchasesPerS === purchasesPerS && load.accounts === accounts);

test("there is a cell for each of four loads with each of three numbers of accounts", () => {
  expect(cells(settings)).toHaveLength(12);
});

test("as deployed, 100 purchases a second are 100 times what the upstream allows", () => {
  const { limit, share } = cellOf(100, 100)?.firsts["as deployed"] ?? {};
  expect([limit?.name, share]).toEqual(["the upstream's limit for our keys", 100]);
});

test("with everything raised, one account ends at its wallet and many accounts at the shards of the stream", () => {
  const lastStep = "and with raised settings and quotas";
  expect(cellOf(100, 1)?.firsts[lastStep]?.limit.name).toBe("conflicts on a wallet");
  expect(cellOf(1_000, 10_000)?.firsts[lastStep]?.limit.name).toBe("shards of the ledger's stream");
});

test("the index of open transactions carries 16,000 purchases a second, and 8,000 while all of them wait", () => {
  const index = limitLoads(settings).filter(({ limit }) => limit.name === "index by_open");
  expect(index.map((load) => [load.limit.onlyIf, purchasesAt(load, 100)])).toEqual([
    ["while all orders wait", 8_000],
    [undefined, 16_000],
  ]);
});

test("each step leaves out limits, so its first limit is used no more than that of the step before", () => {
  for (const { firsts } of cells(settings)) {
    const shares = Object.values(firsts).map(({ share }) => share);
    expect(shares).toEqual(shares.toSorted((one, other) => other - one));
  }
});

test("the limits are in the order in which they are reached with 100 accounts", () => {
  const rates = limitLoads(settings).map((limit) => purchasesAt(limit, 100));
  expect(rates).toEqual(rates.toSorted((one, other) => one - other));
  expect(rates.every((rate) => rate > 0)).toBe(true);
});

test("at the loads at which a limit is reached, its capacity is used up", () => {
  for (const { limit, givesAt } of limitLoads(settings)) {
    for (const load of givesAt.filter(({ purchasesPerS }) => purchasesPerS > 0)) {
      expect(shareOf(limit, load, settings)).toBeCloseTo(1, 9);
    }
  }
});

test("a purchase a second costs a month what as many purchases, events and webhooks cost", () => {
  const dollars = requestCosts()
    .filter(({ title }) => ["live purchase", "duplicate upstream event", "webhook"].includes(title))
    .reduce((sum, { total }) => sum + total, 0);
  expect(monthlyDollars(1)).toBeCloseTo((dollars * 730 * 3_600) / 1_000_000, 9);
  expect(monthlyDollars(1_000)).toBeCloseTo(1_000 * monthlyDollars(1), 6);
});
