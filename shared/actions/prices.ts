import { randomBytes } from "node:crypto";
import { type Account, accountText, requireAccount } from "../access/account-store.ts";
import { changePriceRules } from "../access/accounts.ts";
import { builtInSnapshot } from "../catalog/built-in-catalog.ts";
import { catalogOf } from "../catalog/snapshot.ts";
import type { ActionInput } from "../contract/actions/actions.ts";
import type { pricesActions } from "../contract/actions/prices.ts";
import type { Catalog } from "../contract/catalog.ts";
import { CATALOG_MAX_AGE_S } from "../contract/limits.ts";
import { isPurchaseType, type TransactionType } from "../contract/transaction.ts";
import { type Kobo, koboFromNaira, koboMoneyText, nairaFromKobo } from "../contract/values/money.ts";
import { isSameNetwork } from "../contract/values/network-names.ts";
import { retrievalCostsMore } from "../identity/check-rules.ts";
import { expectedDiscount, networksWithDiscount } from "../ledger/upstream-costs.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { orNull } from "../platform/or-null.ts";
import { isoTime } from "../platform/time.ts";
import { boundOf, changedBy, currentRules, isSameSelector, type PriceRule } from "../prices/price-rule.ts";
import { type ActionContext, audited } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";

/**
 * A caller may hold the catalog for an hour, and a request that read the list before may take some seconds: a price that
 * changes sooner could be debited from an app that shows another one.
 */
export const PRICE_LEAD_MS = (CATALOG_MAX_AGE_S + 60) * 1_000;
const RULES_MAX = 100;

type SetInput = ActionInput<"prices set">;

export const pricesRuns: ActionRuns<typeof pricesActions> = {
  "prices list": async (context, { account }) => {
    const nowMs = context.ledger.clock();
    const rules = currentRulesOf(await requireAccount(context.accounts, account), nowMs);
    const catalog = await readCatalog(context);
    return {
      account_id: account,
      rules: rules.map((rule) => ruleView(rule, nowMs, isBelowCost(context, rule, catalog))),
    };
  },

  "prices set": async (context, input) => {
    const nowMs = context.ledger.clock();
    const { bounded } = await plannedRule(context, input);
    const details = {
      rule: `${bounded.id}: ${ruleText(bounded)}`,
      ...(input.from !== undefined && { from: input.from }),
    };
    const store = audited(context, () => ({ action: "prices set", why: input.why, details }));
    const { price_list } = await changePriceRules(store, input.account, (account) =>
      rulesWith(context, account, { ...bounded, from: beginOf(account, input.from, nowMs) }),
    );
    const rule = price_list?.rules.find(({ id }) => id === bounded.id);
    if (rule === undefined) throw new Error("The price rule was not made");
    return { account_id: input.account, rule: ruleView(rule, nowMs, input.below_cost === true) };
  },

  "prices remove": async (context, { account: accountId, rule_id: ruleId, why }) => {
    const nowMs = context.ledger.clock();
    let endsAt = isoTime(nowMs);
    const catalog = await readCatalog(context);
    const store = audited(context, () => ({ action: "prices remove", why, details: { rule: ruleId } }));
    await changePriceRules(store, accountId, (account) => {
      const { rules, rule } = currentRule(account, ruleId, nowMs);
      // Two people decide that with a proposal. Without one, a rule was set after `propose` had looked.
      const isAlone = context.fourEyes !== undefined && context.actor().proposal === undefined;
      if (isAlone && belowCostBehind(context, catalog, { rules, rule })) {
        throw new OperatorError("Another person has changed the prices since you saw them: try again");
      }
      const others = rules.filter(({ id }) => id !== ruleId);
      if (Date.parse(rule.from) > nowMs) {
        assertRetrievalCostsMore(context, rules, others);
        return others;
      }
      const ended = withEnd(rules, rule, beginOf(account, undefined, nowMs));
      endsAt = ended.endsAt;
      assertRetrievalCostsMore(context, rules, ended.rules);
      return ended.rules;
    });
    return { account_id: accountId, rule_id: ruleId, ends_at: endsAt };
  },
};

const currentRule = (account: Account, ruleId: string, nowMs: number) => {
  const rules = currentRulesOf(account, nowMs);
  const rule = rules.find(({ id }) => id === ruleId);
  if (rule === undefined) {
    throw new OperatorError(`${account.account_id} has no price rule ${ruleId}`, {
      command: `audit ${account.account_id} shows who removed one`,
    });
  }
  return { rules, rule };
};

/**
 * The rule below cost that may price orders of this one once it is removed: one for the same orders, which it would have
 * replaced or ended, or one for more. Which network a plan is of, rules do not say.
 */
const belowCostBehind = (
  context: ActionContext,
  catalog: Catalog,
  { rules, rule }: { readonly rules: readonly PriceRule[]; readonly rule: PriceRule },
): PriceRule | undefined => {
  const hasBegun = Date.parse(rule.from) <= context.ledger.clock();
  const isBehind = (each: PriceRule): boolean =>
    isSameSelector(each, rule)
      ? !hasBegun
      : each.kind === rule.kind &&
        each.plan_id === undefined &&
        (rule.plan_id !== undefined || each.network === undefined);
  return rules.find((each) => each.id !== rule.id && isBehind(each) && isBelowCost(context, each, catalog));
};

/** What `prices remove` would do now, and whether a price below cost applies by it. */
export const removalPreview = async (
  context: ActionContext,
  { account: accountId, rule_id: ruleId }: ActionInput<"prices remove">,
) => {
  const account = await requireAccount(context.accounts, accountId);
  const found = currentRule(account, ruleId, context.ledger.clock());
  const { rule } = found;
  const behind = belowCostBehind(context, await readCatalog(context), found);
  const what = `${rule.change.by === "none" ? "end" : "price rule"} ${ruleId} (${ruleText(rule)}) of ${accountText(account)}`;
  return {
    account: accountId,
    consequence:
      behind === undefined
        ? `Removes the ${what}`
        : `Removes the ${what}, behind which a price below cost applies: ${ruleText(behind)}`,
    needsApproval: behind !== undefined,
  };
};

/**
 * The rules with an end of one of them. One that replaces it before that ends it: the end stands before that one, which it
 * must not end too, and is there if that one is removed.
 */
const withEnd = (rules: readonly PriceRule[], rule: PriceRule, from: string) => {
  const [next] = rules
    .filter((each) => each.id !== rule.id && isSameSelector(each, rule) && each.from <= from)
    .toSorted((one, other) => Date.parse(one.from) - Date.parse(other.from));
  const endsAt = next?.from ?? from;
  if (next?.change.by === "none") return { rules, endsAt };
  const { discount_percent_max: _bound, elsewhere: _elsewhere, ...selector } = rule;
  const end = { ...selector, id: newRuleId(), from: endsAt, change: { by: "none" } } as const;
  return { rules: rules.toSpliced(next === undefined ? rules.length : rules.indexOf(next), 0, end), endsAt };
};

/** The rules of an account with one more. Throws if it may not have it. */
const rulesWith = (context: ActionContext, account: Account, rule: PriceRule): readonly PriceRule[] => {
  // An end that comes later is of the rule that this one replaces.
  const isItsEnd = (each: PriceRule): boolean =>
    each.change.by === "none" && isSameSelector(each, rule) && Date.parse(each.from) > Date.parse(rule.from);
  const current = currentRulesOf(account, context.ledger.clock());
  const rules = [...current.filter((each) => !isItsEnd(each)), rule];
  if (rules.length > RULES_MAX) throw new OperatorError(`An account has at most ${RULES_MAX} price rules`);
  assertRetrievalCostsMore(context, current, rules);
  return rules;
};

const readCatalog = async ({ catalog }: ActionContext): Promise<Catalog> =>
  catalogOf((await catalog.read()) ?? builtInSnapshot);

/**
 * Whether a rule may make a price below cost: because that is meant, or because the upstream's discount is lower than when it
 * was set.
 */
const isBelowCost = ({ costs }: ActionContext, rule: PriceRule, { networks, data_plans }: Catalog): boolean => {
  const { kind, network, plan_id, change } = rule;
  if (change.by === "none") return false;
  const inScope = networks.filter(({ id, code }) =>
    plan_id === undefined
      ? network === undefined || isSameNetwork(code, network)
      : data_plans.some((plan) => plan.id === plan_id && plan.network_id === id),
  );
  const codes = isPurchaseType(kind) ? inScope.map(({ code }) => code) : [];
  // What the catalog does not have now may come back.
  return (codes.length > 0 ? codes : [network]).some((code) => {
    const [bound, discount] = [boundOf(rule, code), expectedDiscount(costs, kind, code) ?? 0];
    if (bound === undefined) return true;
    if (change.by === "amount") return change.kobo < 0 && bound > discount;
    return -change.percent > discount && -change.percent <= bound;
  });
};

/** The rule without its beginning, the upstream's discount in percent, and what the rule prices. */
const plannedRule = async (context: ActionContext, input: SetInput) => {
  const unbounded = ruleOf(input);
  const scope = scopeOf(context, unbounded, await readCatalog(context));
  const discountOf = (code?: string): number => expectedDiscount(context.costs, input.kind, code) ?? 0;
  const elsewhere = Math.min(
    discountOf(),
    ...networksWithDiscount(context.costs, input.kind)
      .filter((code) => !scope.networks.includes(code))
      .map(discountOf),
  );
  const bound = scope.networks.length === 0 ? elsewhere : Math.min(...scope.networks.map(discountOf));
  const bounded = {
    ...unbounded,
    ...(!input.below_cost && {
      discount_percent_max: bound,
      ...(bound > elsewhere &&
        input.network === undefined && { elsewhere: { not: [...scope.networks], discount_percent_max: elsewhere } }),
    }),
  };
  assertNotBelowCost(bounded, bound, scope.faces);
  return { bounded, bound, scope };
};

/** What `prices set` would do now, in a sentence that names the order with the largest discount. */
export const priceConsequence = async (context: ActionContext, input: SetInput): Promise<string> => {
  const { bounded, bound, scope } = await plannedRule(context, input);
  const account = await requireAccount(context.accounts, input.account);
  rulesWith(context, account, { ...bounded, from: beginOf(account, input.from, context.ledger.clock()) });
  const off = bounded.change.by === "amount" ? -bounded.change.kobo : 0;
  // Whole NGN that a top-up may have and that the rule takes nearly all of.
  const topUp = koboFromNaira(Math.max(1_000, Math.ceil((off + 1) / 100)));
  const faces = scope.faces.length > 0 ? scope.faces : [{ name: "a top-up", faceKobo: topUp }];
  const priced = faces.flatMap(({ name, faceKobo }) => {
    const kobo = changedBy(bounded, faceKobo);
    return kobo === undefined ? [] : [{ name, faceKobo, kobo }];
  });
  const [cheapest] = priced.toSorted((one, other) => one.kobo / one.faceKobo - other.kobo / other.faceKobo);
  const example =
    cheapest && `: ${cheapest.name} of ${koboMoneyText(cheapest.faceKobo)} costs ${koboMoneyText(cheapest.kobo)}`;
  const begins = input.from === undefined ? "" : ` from ${input.from}`;
  return `Sets a price${input.below_cost ? " below cost" : ""} for ${accountText(account)}${begins}, ${ruleText(bounded)}${example ?? ""}; the upstream's discount is ${bound} percent, or unknown`;
};

const currentRulesOf = ({ price_list }: Account, nowMs: number): readonly PriceRule[] =>
  currentRules(price_list?.rules ?? [], nowMs);

const newRuleId = (): string => `pr_${randomBytes(5).toString("hex")}`;

/** The rule without its time and bound. */
const ruleOf = ({ kind, network, plan_id, percent, amount_kobo }: SetInput): Omit<PriceRule, "from"> => {
  if ((percent === undefined) === (amount_kobo === undefined)) {
    throw new OperatorError("Name a percentage or an amount, and not both");
  }
  if (network !== undefined && !isPurchaseType(kind)) throw new OperatorError("Only data and airtime have a network");
  if (plan_id !== undefined && (kind !== "data" || network !== undefined)) {
    throw new OperatorError("Only data has plans, and a plan's network is known");
  }
  return {
    id: newRuleId(),
    kind,
    ...(network !== undefined && { network }),
    ...(plan_id !== undefined && { plan_id }),
    change: percent === undefined ? { by: "amount", kobo: amount_kobo ?? 0 } : { by: "percent", percent },
  };
};

type Scope = {
  /** The networks whose orders it prices; none for checks. */
  readonly networks: readonly string[];
  /** The face values that are known: those of a top-up are not. */
  readonly faces: readonly { readonly name: string; readonly faceKobo: Kobo }[];
};

const scopeOf = (
  { identityPrices }: ActionContext,
  { kind, network, plan_id }: Omit<PriceRule, "from">,
  { networks, data_plans }: Catalog,
): Scope => {
  if (!isPurchaseType(kind)) {
    return { networks: [], faces: checkFaces(identityPrices, kind) };
  }
  if (network !== undefined && !networks.some(({ code }) => code === network)) {
    throw new OperatorError(`There is no network ${network}: ${networks.map(({ code }) => code).join(", ")}`);
  }
  const plans = data_plans.filter(({ id, network_id }) => {
    const code = networks.find((each) => each.id === network_id)?.code;
    return plan_id === undefined ? network === undefined || code === network : id === plan_id;
  });
  if (plan_id !== undefined && plans.length === 0) throw new OperatorError(`The catalog has no plan ${plan_id}`);
  const inScope = networks.filter(({ id, code }) =>
    plan_id === undefined ? network === undefined || code === network : plans.some((plan) => plan.network_id === id),
  );
  return {
    networks: inScope.map(({ code }) => code),
    faces:
      kind === "airtime" ? [] : plans.map(({ id, price }) => ({ name: `plan ${id}`, faceKobo: koboFromNaira(price) })),
  };
};

const checkFaces = ({ nin, bvn }: ActionContext["identityPrices"], kind: TransactionType): Scope["faces"] => {
  const prices = kind.startsWith("nin") ? nin : bvn;
  const faces = kind.endsWith("retrieval")
    ? { retrieval: prices.retrieve }
    : { "basic check": prices.basic, "advanced check": prices.advanced };
  return Object.entries(faces).map(([name, faceKobo]) => ({ name, faceKobo }));
};

/** A face value that is not known now, of a top-up or a later plan, has its face value where the rule would be below cost. */
const assertNotBelowCost = (rule: Omit<PriceRule, "from">, bound: number, faces: Scope["faces"]): void => {
  const isMeant = rule.discount_percent_max === undefined;
  const isBelow = rule.change.by === "percent" && rule.change.percent < -bound && !isMeant;
  const below = faces.filter(({ faceKobo }) => changedBy(rule, faceKobo) === undefined);
  if (!isBelow && below.length === 0) return;
  const named = below.slice(0, 3).map(({ name, faceKobo }) => `${name} of ${koboMoneyText(faceKobo)}`);
  throw new OperatorError(
    isMeant
      ? `The rule makes no price of at least NGN 0.01 for ${named.join(", ")}`
      : `The price would be below cost: the upstream's discount is ${bound} percent, or unknown${named.length > 0 ? ` (${named.join(", ")})` : ""}`,
    isMeant ? {} : { command: "If that is meant, add --below-cost" },
  );
};

/**
 * No change of rules ends docs/interface.md 12.5 at any moment. Where another price of the stage has ended it, the rules are
 * without effect (check-rules.ts), and any other may replace them.
 */
const assertRetrievalCostsMore = (
  { identityPrices }: ActionContext,
  before: readonly PriceRule[],
  after: readonly PriceRule[],
): void => {
  for (const moment of [0, ...after.map(({ from }) => Date.parse(from))]) {
    for (const idType of ["nin", "bvn"] as const) {
      const costsMore = (rules: readonly PriceRule[]) => retrievalCostsMore(rules, identityPrices, idType, moment);
      if (costsMore(after) || !costsMore(before)) continue;
      throw new OperatorError(`A retrieval by ${idType.toUpperCase()} must cost more than a verification`);
    }
  }
};

/**
 * An account that never had a key has no app that could hold a price. One whose keys have ended has: with its next key the
 * app may still show what it read with the one before.
 */
const beginOf = (account: Account, from: string | undefined, nowMs: number): string => {
  const earliest = isoTime(nowMs + (account.keys.length > 0 ? PRICE_LEAD_MS : 0));
  if (from === undefined) return earliest;
  const time = isoTime(Date.parse(from));
  if (time >= earliest) return time;
  throw new OperatorError(
    `Apps of the account may hold the present prices for an hour: the rule can begin at ${earliest} or later`,
  );
};

const ruleText = ({ kind, network, plan_id, change }: Omit<PriceRule, "from">): string => {
  const selector = [kind, ...(network ? [network] : []), ...(plan_id === undefined ? [] : [`plan ${plan_id}`])].join(
    " ",
  );
  if (change.by === "none") return selector;
  const by = change.by === "percent" ? `${change.percent} percent` : `${koboMoneyText(change.kobo)}`;
  return `${selector} ${by}`;
};

const ruleView = ({ id, kind, network, plan_id, from, change }: PriceRule, nowMs: number, below_cost: boolean) => ({
  rule_id: id,
  kind,
  network: network ?? null,
  plan_id: plan_id ?? null,
  percent: change.by === "percent" ? change.percent : null,
  amount: change.by === "amount" ? orNull(change.kobo, nairaFromKobo) : null,
  from,
  state: Date.parse(from) > nowMs ? ("later" as const) : ("in force" as const),
  below_cost,
});
