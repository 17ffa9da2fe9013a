import { describe, expect, test } from "vitest";
import { parseIdentityPrices } from "../../../../shared/identity/identity-prices.ts";

const prices = {
  nin: { basic: 150, advanced: 250, retrieve: 400 },
  bvn: { basic: 100, advanced: 200.5, retrieve: 300.25 },
};
const withNin = (changes: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({ ...prices, nin: { ...prices.nin, ...changes } });

test("prices in NGN become whole kobo", () => {
  expect(parseIdentityPrices(JSON.stringify(prices))).toEqual({
    nin: { basic: 15_000, advanced: 25_000, retrieve: 40_000 },
    bvn: { basic: 10_000, advanced: 20_050, retrieve: 30_025 },
  });
});

test("a computed price is rounded to whole kobo", () => {
  expect(parseIdentityPrices(withNin({ basic: 54.019999999999996 })).nin.basic).toBe(5_402);
});

describe("a retrieval must cost more than a verification", () => {
  test.each([
    ["less than both", 100],
    ["as much as basic", 150],
    ["between basic and advanced", 200],
    ["as much as advanced", 250],
  ])("a retrieval price with %s is refused, and the message names it", (_name, retrieve) => {
    expect(() => parseIdentityPrices(withNin({ retrieve }))).toThrow(/nin\.retrieve/);
  });

  test("a retrieval may cost one kobo more than the dearest verification", () => {
    expect(parseIdentityPrices(withNin({ retrieve: 250.01 })).nin.retrieve).toBe(25_001);
  });

  test("an advanced verification may be cheaper than a basic one, as long as a retrieval is above both", () => {
    expect(() => parseIdentityPrices(withNin({ basic: 300, advanced: 250 }))).not.toThrow();
    expect(() => parseIdentityPrices(withNin({ basic: 400, advanced: 250 }))).toThrow(/nin\.retrieve/);
  });
});

test.each([
  ["zero", 0],
  ["negative", -1],
  ["text", "150"],
  ["null", null],
  ["with 3 decimals", 150.001],
  ["above 100,000", 100_000.01],
  ["absent", undefined],
])("a price that is %s is refused", (_name, basic) => {
  expect(() => parseIdentityPrices(withNin({ basic }))).toThrow(/nin\.basic/);
});

test("a subject without prices and text that is not JSON are refused", () => {
  expect(() => parseIdentityPrices(JSON.stringify({ nin: prices.nin }))).toThrow(/bvn/);
  expect(() => parseIdentityPrices("nin=150")).toThrow();
});
