import { expectedCost, type UpstreamCosts } from "../ledger/upstream-costs.ts";
import type { Clock } from "../platform/time.ts";
import type { PriceRules } from "./price-list.ts";
import { type FaceValue, priceAt } from "./price-rule.ts";

/** What the caller pays for an order now, and what it is expected to cost. */
export const priceOrder = async (
  {
    prices,
    costs,
    ledger,
  }: { readonly prices: PriceRules; readonly costs: UpstreamCosts; readonly ledger: { readonly clock: Clock } },
  caller: Parameters<PriceRules>[0],
  order: FaceValue,
) => ({ ...priceAt(await prices(caller), order, ledger.clock()), costKobo: expectedCost(costs, order) });
