import * as z from "zod";
import { type Catalog, catalogSchema, type DataPlan, type Network } from "../contract/catalog.ts";
import { successEnvelope } from "../contract/envelope.ts";
import { documentText, type PreparedDocument, prepareDocument } from "../platform/prepared-document.ts";

/** The catalog as it is served: the answer's bytes, made once by whoever refreshed it. */
export type Snapshot = PreparedDocument & {
  /** When the upstream last said so. */
  readonly fetchedAt_ms: number;
};

/** Makes the bytes that are served, with their tag. */
export const snapshotOf = (catalog: Catalog, fetchedAt_ms: number): Snapshot => {
  const body = JSON.stringify({ status: true, message: "Networks and data plans", data: catalog });
  return { ...prepareDocument(body), fetchedAt_ms };
};

const servedEnvelope = successEnvelope(catalogSchema);
export const catalogOf = (snapshot: Snapshot): Catalog => servedEnvelope.parse(JSON.parse(documentText(snapshot))).data;

/** A catalog made ready for finding plans. */
export type PlanIndex = {
  readonly networks: ReadonlyMap<number, Network>;
  readonly plans: ReadonlyMap<number, DataPlan>;
};

export const indexPlans = ({ networks, data_plans }: Catalog): PlanIndex => ({
  networks: new Map(networks.map((network) => [network.id, network])),
  plans: new Map(data_plans.map((plan) => [plan.id, plan])),
});

/** What makes a catalog unusable beyond the shape of its parts. */
export const consistentCatalog = catalogSchema.check(
  z.refine(
    ({ networks }) => new Set(networks.map(({ id }) => id)).size === networks.length,
    "Two networks share an id",
  ),
  z.refine(
    ({ data_plans }) => new Set(data_plans.map(({ id }) => id)).size === data_plans.length,
    "Two plans share an id",
  ),
  z.refine(({ networks, data_plans }) => {
    const ids = new Set(networks.map(({ id }) => id));
    return data_plans.every(({ network_id }) => ids.has(network_id));
  }, "A plan belongs to no network"),
);

/** Which plans came, went or changed their price. */
export const catalogChanges = (before: Catalog, after: Catalog) => {
  const priceBefore = new Map(before.data_plans.map(({ id, price }) => [id, price]));
  const idsAfter = new Set(after.data_plans.map(({ id }) => id));
  return {
    added: after.data_plans.filter(({ id }) => !priceBefore.has(id)),
    removed: before.data_plans.filter(({ id }) => !idsAfter.has(id)),
    repriced: after.data_plans.filter(({ id, price }) => (priceBefore.get(id) ?? price) !== price),
  };
};
