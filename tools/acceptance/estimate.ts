import { HOUR_MS } from "../../shared/contract/values/durations.ts";
import { sum } from "../../shared/platform/sum.ts";
import { monthlyUsageAtRest } from "../costs/at-rest.ts";
import { budgets } from "../costs/budgets.ts";
import { dollarsOf, MONTH_HOURS } from "../costs/prices.ts";
import { usageOf } from "../costs/request-usage.ts";

/**
 * What a run costs, in USD: what the stage costs at rest, for each begun hour, and every request priced as a purchase
 * that an event settles, with its webhook, which is more than most requests cost. An estimate: nothing is read from a
 * bill.
 */
export const estimateDollars = (requests: number, elapsedMs: number): number => {
  const hours = Math.ceil(elapsedMs / HOUR_MS);
  const atRest = sum(Object.values(monthlyUsageAtRest({ kind: "none" })).map((usage) => dollarsOf(usage)));
  const request = sum(
    [budgets.purchase, budgets.upstreamEvent, budgets.webhook].map((budget) => dollarsOf(usageOf(budget))),
  );
  return (atRest * hours) / MONTH_HOURS + requests * request;
};
