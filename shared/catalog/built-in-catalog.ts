import type { Catalog } from "../contract/catalog.ts";
import { indexPlans } from "./plan-index.ts";
import { snapshotOf } from "./snapshot.ts";

/** Served to test keys until the upstream's catalog is fetched for the first time. */
const catalog: Catalog = {
  networks: [
    { id: 1, name: "MTN", code: "mtn" },
    { id: 2, name: "Airtel", code: "airtel" },
    { id: 3, name: "Glo", code: "glo" },
    { id: 4, name: "9mobile", code: "9mobile" },
  ],
  data_plans: [
    { id: 101, network_id: 1, name: "1GB", price: 500, validity: "30 days" },
    { id: 201, network_id: 2, name: "1GB", price: 500, validity: "30 days" },
    { id: 301, network_id: 3, name: "1GB", price: 450, validity: "30 days" },
    { id: 401, network_id: 4, name: "1GB", price: 485.5, validity: "30 days" },
  ],
};

// The mark lets esbuild leave it out of bundles that do not use it.
export const builtInSnapshot = /* @__PURE__ */ snapshotOf(catalog, 0);
export const builtInPlans = indexPlans(catalog);
