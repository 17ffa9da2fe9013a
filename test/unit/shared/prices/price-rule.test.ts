import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { koboFromNaira, koboSchema } from "../../../../shared/contract/values/money.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import {
  changedBy,
  currentRules,
  nextChangeMs,
  type PriceRule,
  priceAt,
  priceRuleSchema,
} from "../../../../shared/prices/price-rule.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const aRule = (changes: Partial<PriceRule> = {}): PriceRule => ({
  id: "pr_1",
  kind: "data",
  from: isoTime(NOON_MS),
  change: { by: "percent", percent: -10 },
  ...changes,
});
const order = { kind: "data", network: "mtn", planId: 101, faceKobo: koboFromNaira(500) } as const;
const priceOf = (rules: readonly PriceRule[], atMs = NOON_MS, of: Parameters<typeof priceAt>[1] = order) =>
  priceAt(rules, of, atMs).amountKobo;

describe("the price of a plan of 500 NGN", () => {
  test.each<[string, Partial<PriceRule>, number]>([
    ["10 percent less", {}, 450_00],
    ["2.5 percent more", { change: { by: "percent", percent: 2.5 } }, 512_50],
    ["20 NGN less", { change: { by: "amount", kobo: -20_00 } }, 480_00],
    ["the face value before the rule begins", { from: isoTime(NOON_MS + 1) }, 500_00],
    ["the face value of another network", { network: "glo" }, 500_00],
    ["the face value of another plan", { plan_id: 102 }, 500_00],
    ["the face value of another kind", { kind: "airtime" }, 500_00],
    ["the face value instead of one below the bound", { discount_percent_max: 9.99 }, 500_00],
    ["as low as the bound", { discount_percent_max: 10 }, 450_00],
    ["the face value instead of nothing", { change: { by: "amount", kobo: -500_00 } }, 500_00],
    ["the highest price of a catalog", { change: { by: "amount", kobo: 1_000_000_000 - 500_00 } }, 1_000_000_000],
    ["the face value instead of a higher one", { change: { by: "amount", kobo: 1_000_000_001 - 500_00 } }, 500_00],
    ["the face value of another plan of the network", { plan_id: 102, network: "mtn" }, 500_00],
  ])("is %s", (_, changes, kobo) => {
    expect(priceOf([aRule(changes)])).toBe(kobo);
  });

  test("is that of the rule for the plan, then for the network, then for the kind, whatever their times", () => {
    const percent = (value: number) => ({ change: { by: "percent", percent: value } }) as const;
    const rules = [
      aRule({ plan_id: 101, from: isoTime(NOON_MS - 2), ...percent(-1) }),
      aRule({ network: "mtn", from: isoTime(NOON_MS - 1), ...percent(-2) }),
      aRule(percent(-3)),
    ];
    expect(priceOf(rules)).toBe(495_00);
    expect(priceOf(rules, NOON_MS, { ...order, planId: 102 })).toBe(490_00);
    expect(priceOf(rules, NOON_MS, { ...order, planId: 103, network: "glo" })).toBe(485_00);
    const ended = [...rules, aRule({ plan_id: 101, from: isoTime(NOON_MS + 1), change: { by: "none" } })];
    expect([priceOf(ended), priceOf(ended, NOON_MS + 1)]).toEqual([495_00, 490_00]);
  });
});

test("an order without a plan has no price of another network", () => {
  const airtime = { kind: "airtime", network: "mtn", faceKobo: koboFromNaira(500) } as const;
  expect(priceOf([aRule({ kind: "airtime", network: "glo" })], NOON_MS, airtime)).toBe(500_00);
  expect(priceOf([aRule({ kind: "airtime", network: "mtn" })], NOON_MS, airtime)).toBe(450_00);
});

test("a rule for a network prices its orders under another name that it has, and the latest of both names counts", () => {
  const airtime = { kind: "airtime", network: "t2", faceKobo: koboFromNaira(500) } as const;
  const rule = aRule({ kind: "airtime", network: "9mobile" });
  expect(priceOf([rule], NOON_MS, airtime)).toBe(450_00);
  const later = { from: isoTime(NOON_MS + 1), change: { by: "percent", percent: -2 } } as const;
  expect(priceOf([rule, { ...rule, ...later, network: "t2" }], NOON_MS + 1, airtime)).toBe(490_00);
  const bound = { not: ["etisalat"], discount_percent_max: 5 };
  const ofAll = aRule({ kind: "airtime", discount_percent_max: 10, elsewhere: bound });
  expect(priceOf([ofAll], NOON_MS, airtime)).toBe(450_00);
});

test("of two rules for the same orders from the same moment, the one that was set last counts", () => {
  const rules = [aRule(), aRule({ id: "pr_2", change: { by: "percent", percent: -5 } })];
  expect(priceAt(rules, order, NOON_MS)).toEqual({ amountKobo: 475_00, faceKobo: 500_00, rule: "pr_2" });
  expect(currentRules(rules, NOON_MS).map(({ id }) => id)).toEqual(["pr_2"]);
  expect(currentRules([aRule(), aRule({ kind: "airtime" })], NOON_MS)).toHaveLength(2);
  // Otherwise the end of the second one would bring the first one back.
  const ofNetwork = [aRule({ network: "etisalat" }), aRule({ id: "pr_2", network: "9mobile" })];
  expect(currentRules(ofNetwork, NOON_MS).map(({ id }) => id)).toEqual(["pr_2"]);
});

test("networks for which a bound is not meant have the other one, and so has an order without a network", () => {
  const elsewhere = { not: ["airtel", "mtn"], discount_percent_max: 5 };
  const rule = aRule({ discount_percent_max: 10, elsewhere });
  const prices = ["mtn", "glo", undefined].map((network) => priceOf([rule], NOON_MS, { ...order, network }));
  expect(prices).toEqual([450_00, 500_00, 500_00]);
});

test("the end of a rule changes no price, and goes once it has begun", () => {
  const end = aRule({ id: "pr_2", change: { by: "none" } });
  expect(changedBy(end, koboFromNaira(500))).toBe(500_00);
  const rules = [aRule({ from: isoTime(NOON_MS - 1) }), end];
  expect(currentRules(rules, NOON_MS - 1)).toEqual(rules);
  expect(currentRules(rules, NOON_MS)).toEqual([]);
});

test("the next change is the first rule that has not begun, and none once all have", () => {
  const rules = [2, 0, 1].map((ms) => aRule({ from: isoTime(NOON_MS + ms) }));
  expect([-1, 0, 1].map((ms) => nextChangeMs(rules, NOON_MS + ms))).toEqual([NOON_MS, NOON_MS + 1, NOON_MS + 2]);
  expect(nextChangeMs(rules, NOON_MS + 2)).toBeUndefined();
});

test("a rule is read as it was written, and one that cannot be applied is not read", () => {
  const bound = { discount_percent_max: 3, elsewhere: { not: ["mtn"], discount_percent_max: 2 } };
  for (const rule of [
    aRule({ network: "mtn", plan_id: 101, ...bound }),
    aRule({ change: { by: "amount", kobo: -5 } }),
    aRule({ change: { by: "none" } }),
  ]) {
    expect(priceRuleSchema.parse(rule)).toEqual(rule);
  }
  for (const wrong of [{ from: "noon" }, { elsewhere: { not: ["mtn"] } }])
    expect(priceRuleSchema.safeParse({ ...aRule(), ...wrong }).success).toBe(false);
});

const someRules = fc.array(
  fc.record({
    selector: fc.constantFrom({}, { network: "mtn" }, { network: "glo" }, { plan_id: 101 }, { plan_id: 102 }),
    atMs: fc.integer({ min: -5, max: 5 }),
    change: fc.oneof(
      fc.record({
        by: fc.constant("percent" as const),
        percent: fc.integer({ min: -3_000, max: 3_000 }).map((n) => n / 100),
      }),
      fc.record({ by: fc.constant("amount" as const), kobo: fc.integer({ min: -600_00, max: 600_00 }) }),
      fc.constant({ by: "none" as const }),
    ),
  }),
  { maxLength: 12 },
);
const made = (drawn: typeof someRules extends fc.Arbitrary<infer Value> ? Value : never): readonly PriceRule[] =>
  drawn.map(({ selector, atMs, change }, index) =>
    aRule({ id: `pr_${index}`, ...selector, from: isoTime(NOON_MS + atMs), change }),
  );
const someOrder = fc.record({
  kind: fc.constant("data" as const),
  network: fc.constantFrom("mtn", "glo", "airtel"),
  planId: fc.constantFrom(101, 102, 103),
  faceKobo: fc.integer({ min: 1, max: 1_000_000_000 }).map((kobo) => koboSchema.parse(kobo)),
});

test("a price stays the same until the next change, and dropping replaced rules changes none from then on", () => {
  fc.assert(
    fc.property(
      someRules,
      someOrder,
      fc.integer({ min: -6, max: 6 }),
      fc.integer({ min: 0, max: 8 }),
      (drawn, of, at, later) => {
        const rules = made(drawn);
        const [atMs, laterMs] = [NOON_MS + at, NOON_MS + at + later];
        const kept = currentRules(rules, atMs);
        expect(priceAt(kept, of, laterMs)).toEqual(priceAt(rules, of, laterMs));
        const change = nextChangeMs(rules, atMs) ?? Number.POSITIVE_INFINITY;
        if (laterMs < change) expect(priceAt(rules, of, laterMs)).toEqual(priceAt(rules, of, atMs));
      },
    ),
  );
});
