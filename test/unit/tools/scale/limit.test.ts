import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { settingsOf } from "../../../../infra/stage-settings.ts";
import { stages } from "../../../../stages.ts";
import { firstOf, type Limit, reachedAt, shareOf } from "../../../../tools/scale/limit.ts";
import { limits } from "../../../../tools/scale/limits.ts";

const settings = settingsOf("prod", stages);

const aLimit = (changes: Partial<Limit> = {}): Limit => ({
  name: "a limit",
  affects: "purchases",
  unit: "units/s",
  capacity: () => 1_000,
  perPurchase: 2,
  source: { title: "a page", url: "https://docs.aws.amazon.com/" },
  symptom: { text: "Something is seen." },
  remedy: { by: "stage", text: "Something is changed", cost: "nothing" },
  ...changes,
});

describe("shareOf", () => {
  test.each<[string, Partial<Limit>, purchasesPerS: number, share: number]>([
    ["a limit of the stage is used by all purchases together", {}, 100, 0.2],
    ["a limit of an account is used by the purchases of one account", { per: "account" }, 100, 0.004],
    ["what each account uses is added", { perAccount: 10 }, 100, 0.7],
    ["what each account uses is added where nothing is bought", { perAccount: 10 }, 0, 0.5],
  ])("%s", (_rule, changes, purchasesPerS, share) => {
    expect(shareOf(aLimit(changes), { purchasesPerS, accounts: 50 }, settings)).toBeCloseTo(share, 9);
  });

  test("the capacity follows the stage's settings", () => {
    const limit = aLimit({ capacity: ({ requestsPerSecondMax }) => requestsPerSecondMax });
    const load = { purchasesPerS: 100, accounts: 1 };
    expect(shareOf(limit, load, { ...settings, requestsPerSecondMax: 100 })).toBeCloseTo(2, 9);
  });
});

describe("reachedAt", () => {
  test("a limit of an account is reached later with more accounts, and a limit of the stage does not", () => {
    expect([1, 100].map((accounts) => reachedAt(aLimit({ per: "account" }), accounts, settings))).toEqual([
      500, 50_000,
    ]);
    expect([1, 100].map((accounts) => reachedAt(aLimit(), accounts, settings))).toEqual([500, 500]);
  });

  test("a limit that the accounts alone use up is reached without a purchase", () => {
    expect(reachedAt(aLimit({ perAccount: 10 }), 101, settings)).toBe(0);
  });
});

describe("firstOf", () => {
  const load = { purchasesPerS: 100, accounts: 10 };

  test("the limit with the highest share is reached first", () => {
    const low = aLimit({ capacity: () => 150 });
    expect(firstOf([aLimit(), low, aLimit()], load, settings)).toEqual({ limit: low, share: 200 / 150 });
  });

  test("of limits with the same share the first one in the list counts", () => {
    const [one, other] = [aLimit({ name: "one" }), aLimit({ name: "other" })];
    expect(firstOf([one, other], load, settings).limit).toBe(one);
  });

  test("a limit that is reached in one case only, and the threshold of an alarm, are not what a steady load reaches first", () => {
    const steady = aLimit();
    const others = [
      aLimit({ perPurchase: 100, onlyIf: "at first" }),
      aLimit({ perPurchase: 100, affects: "alarm only" }),
    ];
    expect(firstOf([...others, steady], load, settings).limit).toBe(steady);
  });
});

describe("every limit", () => {
  const anyLimit = fc.constantFrom(...limits);
  const anyRate = fc.double({ min: 0, max: 100_000, noNaN: true });
  const anyCount = fc.integer({ min: 1, max: 1_000_000 });

  test("more purchases never use less of a limit", () => {
    fc.assert(
      fc.property(anyLimit, anyRate, anyRate, anyCount, (limit, rate, more, accounts) => {
        const before = shareOf(limit, { purchasesPerS: rate, accounts }, settings);
        expect(shareOf(limit, { purchasesPerS: rate + more, accounts }, settings)).toBeGreaterThanOrEqual(before);
      }),
    );
  });

  test("more accounts never use more of a limit, unless accounts use it without purchases", () => {
    fc.assert(
      fc.property(anyLimit, anyRate, anyCount, anyCount, (limit, purchasesPerS, accounts, more) => {
        const before = shareOf(limit, { purchasesPerS, accounts }, settings);
        const after = shareOf(limit, { purchasesPerS, accounts: accounts + more }, settings);
        if (limit.perAccount === undefined) expect(after).toBeLessThanOrEqual(before);
        else expect(after).toBeGreaterThanOrEqual(before);
      }),
    );
  });

  test("below the load at which a limit is reached, its share is below 1, and above it is above 1", () => {
    fc.assert(
      fc.property(anyLimit, anyCount, (limit, accounts) => {
        const purchasesPerS = reachedAt(limit, accounts, settings);
        fc.pre(Number.isFinite(purchasesPerS) && purchasesPerS > 0);
        const shareAt = (factor: number) =>
          shareOf(limit, { purchasesPerS: purchasesPerS * factor, accounts }, settings);
        expect(shareAt(0.99)).toBeLessThan(1);
        expect(shareAt(1.01)).toBeGreaterThan(1);
      }),
    );
  });
});
