import * as z from "#zod";
import { replaceableObject } from "../contract/lazy-object.ts";
import { type TransactionType, transactionType } from "../contract/transaction.ts";
import { changedByPercent, type Kobo, koboSchema } from "../contract/values/money.ts";
import { isSameNetwork } from "../contract/values/network-names.ts";

/**
 * A price of one account that differs from the face value, from a time on. The latest rule for the same orders counts; a
 * rule for a plan comes before one for its network, and that before one for all orders of the kind.
 */
export const priceRuleSchema = replaceableObject(() => ({
  id: z.string(),
  kind: transactionType,
  /** Code of the network; absent: all networks. Of data and airtime. */
  network: z.optional(z.string()),
  /** Absent: all plans. Of data. */
  plan_id: z.optional(z.int()),
  from: z.iso.datetime(),
  change: z.discriminatedUnion("by", [
    replaceableObject(() => ({ by: z.literal("percent"), percent: z.number() })),
    replaceableObject(() => ({ by: z.literal("amount"), kobo: z.int() })),
    /** Ends the rule before it. */
    replaceableObject(() => ({ by: z.literal("none") })),
  ]),
  /**
   * The most that it may take off the face value, in percent: the discount of the upstream when the rule was set. Absent
   * if a price below cost is meant.
   */
  discount_percent_max: z.optional(z.number()),
  /**
   * Where another network has a lower discount than the bound: the networks that the bound is for, and the bound of all
   * others. A network may be new to the catalog, or a plan's id may be reused for another one.
   */
  elsewhere: z.optional(replaceableObject(() => ({ not: z.array(z.string()), discount_percent_max: z.number() }))),
}));
export type PriceRule = z.infer<typeof priceRuleSchema>;

export type FaceValue = {
  readonly kind: TransactionType;
  /** A network's code. */
  readonly network?: string | undefined;
  readonly planId?: number;
  readonly faceKobo: Kobo;
};

/** The highest price of the catalog's schema. */
const PRICE_KOBO_MAX = 1_000_000_000;

/**
 * The price of an order at a moment: the catalog and the debit both call this. A rule whose price would be below its
 * bound, below 1 kobo or above the highest one is not applied.
 */
export const priceAt = (rules: readonly PriceRule[], order: FaceValue, atMs: number) => {
  const { faceKobo } = order;
  const rule = ruleAt(rules, order, atMs);
  const amountKobo = rule && changedBy(rule, faceKobo, boundOf(rule, order.network));
  if (rule === undefined || amountKobo === undefined) return { amountKobo: faceKobo, faceKobo };
  return { amountKobo, faceKobo, rule: rule.id };
};

/** The most that a rule may take off the face value of a network's orders, in percent; undefined without a bound. */
export const boundOf = (
  { elsewhere, discount_percent_max }: PriceRule,
  network: string | undefined,
): number | undefined =>
  elsewhere === undefined || elsewhere.not.some((each) => isSameNetwork(each, network))
    ? discount_percent_max
    : elsewhere.discount_percent_max;

/** The price by a rule; undefined if the rule is not applied to this face value. */
export const changedBy = (
  { change, discount_percent_max }: Pick<PriceRule, "change" | "discount_percent_max">,
  faceKobo: Kobo,
  percentMax = discount_percent_max,
): Kobo | undefined => {
  const kobo =
    change.by === "percent"
      ? changedByPercent(faceKobo, change.percent)
      : faceKobo + (change.by === "amount" ? change.kobo : 0);
  const least = percentMax === undefined ? 1 : changedByPercent(faceKobo, -percentMax);
  return kobo >= Math.max(1, least) && kobo <= PRICE_KOBO_MAX ? koboSchema.parse(kobo) : undefined;
};

const ruleAt = (rules: readonly PriceRule[], order: FaceValue, atMs: number): PriceRule | undefined => {
  const begun = rules.filter((rule) => rule.kind === order.kind && Date.parse(rule.from) <= atMs);
  const latest = (isOf: (rule: PriceRule) => boolean): PriceRule | undefined =>
    begun
      .filter(isOf)
      .reduce<PriceRule | undefined>((last, rule) => (last && last.from > rule.from ? last : rule), undefined);
  const found = [
    latest(({ plan_id }) => plan_id !== undefined && plan_id === order.planId),
    latest(({ plan_id, network }) => plan_id === undefined && isSameNetwork(network, order.network)),
    latest(({ plan_id, network }) => plan_id === undefined && network === undefined),
  ];
  return found.find((rule) => rule !== undefined && rule.change.by !== "none");
};

/** When the first of the rules begins that has not begun; undefined if all have. */
export const nextChangeMs = (rules: readonly PriceRule[], atMs: number): number | undefined => {
  const later = rules.map(({ from }) => Date.parse(from)).filter((fromMs) => fromMs > atMs);
  return later.length === 0 ? undefined : Math.min(...later);
};

/** Whether two rules are for the same orders. */
export const isSameSelector = (one: PriceRule, other: PriceRule): boolean =>
  one.kind === other.kind && isSameNetwork(one.network, other.network) && one.plan_id === other.plan_id;

/** The rules that count now or later: the others were replaced, and no price is made by them any more. */
export const currentRules = (rules: readonly PriceRule[], atMs: number): readonly PriceRule[] => {
  const isReplaced = (rule: PriceRule, index: number): boolean =>
    rules.some(
      (other, at) =>
        isSameSelector(rule, other) &&
        Date.parse(other.from) <= atMs &&
        (other.from > rule.from || (other.from === rule.from && at > index)),
    );
  const left = rules.filter((rule, index) => !isReplaced(rule, index));
  // An end without a rule before it ends nothing.
  return left.filter(({ change, from }) => change.by !== "none" || Date.parse(from) > atMs);
};
