import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changedByPercent, koboFromNaira, koboSchema } from "../../../../shared/contract/values/money.ts";
import {
  amountFacts,
  expectedCost,
  parseUpstreamCosts,
  upstreamCosts,
} from "../../../../shared/ledger/upstream-costs.ts";

const costs = upstreamCosts.parse({
  discounts: [
    { kind: "airtime", percent: 3 },
    { kind: "airtime", network: "MTN", percent: 2.5 },
    { kind: "data", network: "glo", percent: 7 },
    { kind: "data", network: "9mobile", percent: 6 },
    { kind: "data", network: "t2", percent: 5 },
  ],
});
const faceKobo = koboFromNaira(100);

describe("the expected cost", () => {
  test.each([
    [{ kind: "airtime", network: "airtel" }, 97_00],
    [{ kind: "airtime", network: "mtn" }, 97_50],
    [{ kind: "data", network: "glo" }, 93_00],
    [{ kind: "data", network: "globacom" }, 93_00],
    [{ kind: "data", network: "t2" }, 95_00],
    [{ kind: "data", network: "etisalat" }, 94_00],
    [{ kind: "data", network: "mtn" }, undefined],
    [{ kind: "nin_verification" }, undefined],
  ] as const)("of %j is %s kobo for 100 NGN", (order, kobo) => {
    expect(expectedCost(costs, { ...order, faceKobo })).toBe(kobo);
  });

  test("is the face value less the discount, and half a kobo is rounded up", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000_000_000 }),
        fc.integer({ min: 0, max: 10_000 }),
        (kobo, hundredths) => {
          const exact = BigInt(kobo) * BigInt(10_000 - hundredths);
          const rounded = (exact + 5_000n) / 10_000n;
          expect(changedByPercent(koboSchema.parse(kobo), -hundredths / 100)).toBe(Number(rounded));
        },
      ),
    );
  });
});

test("a charge is the cost of a delivered order, and a face value says nothing of it", () => {
  const amount = koboFromNaira(97);
  expect(amountFacts(costs, "success", amount)).toEqual({ upstream_amount_kobo: 97_00 });
  const charged = upstreamCosts.parse({ amountIs: "charged" });
  expect(amountFacts(charged, "success", amount)).toEqual({ upstream_amount_kobo: 97_00, cost_kobo: 97_00 });
  // It may fail yet: its refund takes the cost of its debit from the books.
  expect(amountFacts(charged, "processing", amount)).toEqual({ upstream_amount_kobo: 97_00 });
  expect(amountFacts(charged, "failed", amount)).toEqual({ upstream_amount_kobo: 97_00 });
  expect(amountFacts(charged, "success", undefined)).toEqual({ upstream_amount_kobo: undefined });
});

test.each([
  [
    "two discounts for the same orders",
    {
      discounts: [
        { kind: "data", percent: 1 },
        { kind: "data", percent: 2 },
      ],
    },
  ],
  ["a discount above 100 percent", { discounts: [{ kind: "data", percent: 101 }] }],
  ["three decimals", { tolerancePercent: 0.125 }],
  ["an unknown kind", { discounts: [{ kind: "sms", percent: 1 }] }],
])("a setting with %s is refused", (_, setting) => {
  expect(() => parseUpstreamCosts(JSON.stringify(setting))).toThrow();
});
