import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { koboFromNaira, koboSchema } from "../../../../shared/contract/money.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { currentRules, nextChangeMs, type PriceRule, priceAt } from "../../../../shared/prices/price-rule.ts";
import { NOON_MS } from "../../../builders/noon.ts";

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
