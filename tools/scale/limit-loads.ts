import type { StageSettings } from "../../infra/stage-settings.ts";
import { dollarsOf } from "../costs/prices.ts";
import { times, usageOf } from "../costs/request-usage.ts";
import { firstOf, type Limit, type Load, reachedAt, type UsedLimit } from "./limit.ts";
import { limits } from "./limits.ts";
import { purchaseBudgets } from "./usage.ts";

export const loads: readonly number[] = [1, 100, 1_000, 10_000];
export const accountCounts: readonly number[] = [1, 100, 10_000];

/** Which limits still count, after what has been changed. */
export const steps = {
  "as deployed": limits,
  "with enough keys, here and upstream": limits.filter(({ remedy }) => remedy.by !== "agreement"),
  "and with raised settings and quotas": limits.filter(
    ({ remedy }) => remedy.by === "accounts" || remedy.by === "code",
  ),
} as const satisfies Record<string, readonly Limit[]>;
export type Step = keyof typeof steps;
export const stepNames: readonly Step[] = Object.keys(steps).filter((name): name is Step => name in steps);

export type Cell = { readonly load: Load; readonly firsts: Readonly<Record<Step, UsedLimit>> };

/** The limit that is reached first, for each load, number of accounts and step. */
export const cells = (settings: StageSettings): readonly Cell[] =>
  loads.flatMap((purchasesPerS) =>
    accountCounts.map((accounts) => {
      const load = { purchasesPerS, accounts };
      const first = (step: Step) => firstOf(steps[step], load, settings);
      return {
        load,
        firsts: {
          "as deployed": first("as deployed"),
          "with enough keys, here and upstream": first("with enough keys, here and upstream"),
          "and with raised settings and quotas": first("and with raised settings and quotas"),
        },
      };
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

const MONTH_S = 730 * 3_600;

/** What a load costs a month, without what a stage costs at rest. */
export const monthlyDollars = (purchasesPerS: number): number =>
  purchaseBudgets.reduce((sum, budget) => sum + dollarsOf(times(usageOf(budget), purchasesPerS * MONTH_S)), 0);
