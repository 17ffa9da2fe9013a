import type { Kobo } from "../contract/values/money.ts";
import { type PriceRule, priceAt } from "../prices/price-rule.ts";
import type { IdentityPrices } from "./identity-prices.ts";

type IdType = keyof IdentityPrices;

/** Whether an account's rules leave a retrieval dearer than a verification at a moment. Source: docs/interface.md 12.5. */
export const retrievalCostsMore = (
  rules: readonly PriceRule[],
  identityPrices: IdentityPrices,
  idType: IdType,
  atMs: number,
): boolean => {
  const { basic, advanced, retrieve } = identityPrices[idType];
  const priceOf = (kind: PriceRule["kind"], faceKobo: Kobo): number =>
    priceAt(rules, { kind, faceKobo }, atMs).amountKobo;
  const verifications = [basic, advanced].map((faceKobo) => priceOf(`${idType}_verification`, faceKobo));
  return priceOf(`${idType}_retrieval`, retrieve) > Math.max(...verifications);
};

/**
 * The rules that price an account's checks at a moment: none where other prices of the stage than those that the rules were
 * set for would make a retrieval the cheaper one.
 */
export const checkRulesAt = (
  rules: readonly PriceRule[],
  identityPrices: IdentityPrices,
  idType: IdType,
  atMs: number,
): readonly PriceRule[] => (retrievalCostsMore(rules, identityPrices, idType, atMs) ? rules : []);
