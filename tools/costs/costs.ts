import { monthAtRest, stageKinds } from "./at-rest.ts";
import { type Budget, budgets } from "./budgets.ts";
import { dollarsOf, type Service, type Usage } from "./prices.ts";
import { times, usageOf, usageOfWaiting } from "./request-usage.ts";

const MILLION = 1_000_000;

/** Those that requests pay; the others are paid by the month. */
export const requestServices: readonly Service[] = [
  "API Gateway",
  "Lambda",
  "DynamoDB",
  "SQS",
  "CloudWatch",
  "Network",
];

export type RequestCost = {
  readonly title: string;
  readonly usage: Usage;
  /** By service. */
  readonly dollars: Readonly<Record<string, number>>;
  readonly total: number;
  /** What each 100 ms add that the other side takes longer. */
  readonly waiting: number;
};

/** USD for a million of each kind of request. */
export const requestCosts = (): readonly RequestCost[] => {
  const { minute: _minute, ...requests } = budgets;
  return Object.values<Budget>(requests).map((budget) => {
    const usage = times(usageOf(budget), MILLION);
    return {
      title: budget.title,
      usage,
      dollars: Object.fromEntries(requestServices.map((service) => [service, dollarsOf(usage, service)])),
      total: dollarsOf(usage),
      waiting: dollarsOf(times(usageOfWaiting(budget), MILLION)),
    };
  });
};

export type RestCost = {
  readonly egress: string;
  readonly parts: readonly { readonly title: string; readonly usage: Usage; readonly dollars: number }[];
  readonly total: number;
};

/** USD for a month of each kind of stage, while nobody calls it. */
export const restCosts = (): readonly RestCost[] =>
  Object.entries(stageKinds).map(([egress, settings]) => {
    const parts = Object.entries(monthAtRest(settings)).map(([title, usage]) => ({
      title,
      usage,
      dollars: dollarsOf(usage),
    }));
    return { egress, parts, total: parts.reduce((sum, { dollars }) => sum + dollars, 0) };
  });
