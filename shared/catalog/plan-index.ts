import type { Catalog, DataPlan, Network } from "../contract/catalog.ts";

/** A catalog indexed by id. */
export type PlanIndex = {
  readonly networks: ReadonlyMap<number, Network>;
  readonly plans: ReadonlyMap<number, DataPlan>;
};

export const indexPlans = ({ networks, data_plans }: Catalog): PlanIndex => ({
  networks: new Map(networks.map((network) => [network.id, network])),
  plans: new Map(data_plans.map((plan) => [plan.id, plan])),
});
