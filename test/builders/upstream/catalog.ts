import type { Catalog, DataPlan } from "../../../shared/contract/catalog.ts";

export const aPlan = (changes: Partial<DataPlan> = {}): DataPlan => ({
  id: 101,
  network_id: 1,
  name: "1GB",
  price: 500,
  validity: "30 days",
  ...changes,
});

/** A catalog of one network, with `plans` plans from id 101 on. */
export const aCatalog = (plans = 4, changes: Partial<Catalog> = {}): Catalog => ({
  networks: [{ id: 1, name: "MTN", code: "mtn" }],
  data_plans: Array.from({ length: plans }, (_, index) => aPlan({ id: 101 + index, name: `${index + 1}GB` })),
  ...changes,
});
