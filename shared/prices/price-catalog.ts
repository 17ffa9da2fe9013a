import type { Catalog } from "../contract/catalog.ts";
import { koboFromNaira, nairaFromKobo } from "../contract/values/money.ts";
import { type PriceRule, priceAt } from "./price-rule.ts";

/** The catalog with an account's prices of this moment. */
export const pricedCatalog = (
  { networks, data_plans }: Catalog,
  rules: readonly PriceRule[],
  atMs: number,
): Catalog => {
  const codes = new Map(networks.map(({ id, code }) => [id, code]));
  return {
    networks,
    data_plans: data_plans.map((plan) => {
      const network = codes.get(plan.network_id);
      const order = { kind: "data", network, planId: plan.id, faceKobo: koboFromNaira(plan.price) } as const;
      return { ...plan, price: nairaFromKobo(priceAt(rules, order, atMs).amountKobo) };
    }),
  };
};
