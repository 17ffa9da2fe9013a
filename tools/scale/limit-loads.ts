import type { StageSettings } from "../../infra/stage-settings.ts";
import { dollarsOf, MONTH_HOURS } from "../costs/prices.ts";
import { times, usageOf } from "../costs/request-usage.ts";
import { firstOf, type Limit, type Load, reachedAt, type UsedLimit } from "./limit.ts";
import { limits } from "./limits.ts";
import { purchaseBudgets } from "./usage.ts";

export const loads: readonly number[] = [1, 100, 1_000, 10_000];
export const accountCounts: readonly number[] = [1, 100, 10_000];

/** What has been changed, and which limits still count then. */
export const steps: readonly (readonly [changed: string, limits: readonly Limit[]])[] = [
  ["as deployed", limits],
  ["with enough keys, here and upstream", limits.filter(({ remedy }) => remedy.by !== "agreement")],
  [
    "and with raised settings and quotas",
    limits.filter(({ remedy }) => remedy.by === "accounts" || remedy.by === "code"),
  ],
];

export type Cell = {
  readonly load: Load;
  /** The limit that is reached first, by what has been changed. */
  readonly firsts: Readonly<Record<string, UsedLimit>>;
};

/** A cell for each load and number of accounts. */
export const cells = (settings: StageSettings): readonly Cell[] =>
  loads.flatMap((purchasesPerS) =>
    accountCounts.map((accounts) => {
      const load = { purchasesPerS, accounts };
      const firsts = steps.map(([changed, counted]) => [changed, firstOf(counted, load, settings)] as const);
      return { load, firsts: Object.fromEntries(firsts) };
    }),
  );

/** A limit, and the loads at which it is reached. */
export type LimitLoads = {
  readonly limit: Limit;
  readonly capacity: number;
  /** Purchases a second at which it is reached, by the number of accounts. */
  readonly givesAt: readonly { readonly accounts: number; readonly purchasesPerS: number }[];
};

/** Every limit, in the order in which they are reached with 100 accounts. */
export const limitLoads = (settings: StageSettings): readonly LimitLoads[] =>
  limits
    .map((limit) => ({
      limit,
      capacity: limit.capacity(settings),
      givesAt: accountCounts.map((accounts) => ({ accounts, purchasesPerS: reachedAt(limit, accounts, settings) })),
    }))
    .toSorted((one, other) => purchasesAt(one, ORDERED_BY) - purchasesAt(other, ORDERED_BY));

const ORDERED_BY = 100;
export const purchasesAt = ({ givesAt }: LimitLoads, count: number): number =>
  givesAt.find(({ accounts }) => accounts === count)?.purchasesPerS ?? Number.NaN;

/** What a load costs a month, without what a stage costs at rest. */
export const monthlyDollars = (purchasesPerS: number): number =>
  purchaseBudgets.reduce(
    (sum, budget) => sum + dollarsOf(times(usageOf(budget), purchasesPerS * MONTH_HOURS * 3_600)),
    0,
  );
