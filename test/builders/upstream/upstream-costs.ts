import { type IdentityPrices, parseIdentityPrices } from "../../../shared/identity/identity-prices.ts";
import { type UpstreamCosts, upstreamCosts } from "../../../shared/ledger/upstream-costs.ts";
import type { PriceRules } from "../../../shared/prices/price-list.ts";

/** The upstream's amounts are face values, and no cost is known: the defaults of a stage. */
export const FACE_VALUES: UpstreamCosts = upstreamCosts.parse({});

export const NO_PRICE_RULES: PriceRules = async () => [];

export const SOME_IDENTITY_PRICES: IdentityPrices = parseIdentityPrices(
  JSON.stringify({
    nin: { basic: 150, advanced: 250, retrieve: 400 },
    bvn: { basic: 100, advanced: 200, retrieve: 300 },
  }),
);
