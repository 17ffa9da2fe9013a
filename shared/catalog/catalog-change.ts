import * as z from "#zod";
import type { Catalog, DataPlan, Network } from "../contract/catalog.ts";
import type { catalogUpdated } from "../contract/openapi/openapi-webhooks.ts";
import { isSameNetwork } from "../contract/values/network-names.ts";
import { indexPlans } from "./plan-index.ts";

/** A change of the served catalog, as `catalog.updated` reports it. */
export const catalogChange = z.object({
  at: z.iso.datetime(),
  /** The data of `catalog.updated` as JSON: every account gets the same bytes. */
  data: z.string(),
});
export type CatalogChange = z.infer<typeof catalogChange>;

/** Data plans name a network by its id, and airtime by its code: with another code it is another network. */
const isAbsentIn =
  (networks: readonly Network[]) =>
  ({ id, code }: Network): boolean =>
    !networks.some((network) => network.id === id && isSameNetwork(network.code, code));

/** Which plans and networks were added or removed, and which plans were repriced. */
export const catalogChanges = (before: Catalog, after: Catalog) => {
  const priceBefore = new Map(before.data_plans.map(({ id, price }) => [id, price]));
  const idsAfter = new Set(after.data_plans.map(({ id }) => id));
  return {
    added: after.data_plans.filter(({ id }) => !priceBefore.has(id)),
    removed: before.data_plans.filter(({ id }) => !idsAfter.has(id)),
    repriced: after.data_plans
      .map((plan) => ({ ...plan, previous_price: priceBefore.get(plan.id) ?? plan.price }))
      .filter(({ price, previous_price }) => previous_price !== price),
    networks_added: after.networks.filter(isAbsentIn(before.networks)),
    networks_removed: before.networks.filter(isAbsentIn(after.networks)),
  };
};

type ChangeData = z.infer<typeof catalogUpdated>["data"];

/**
 * The entries of one event, as JSON. Keeps a webhook small, and with UNANNOUNCED_MAX the catalog's item within
 * DynamoDB's limit: 40 to 50 entries with names of usual length.
 */
const ENTRIES_BYTES_MAX = 6_000;
/** More changes wait only if the delivery queue has failed for hours. */
export const UNANNOUNCED_MAX = 3;

/**
 * What changed for callers: plans and networks that were added or removed, and prices. Undefined if nothing did; other
 * changes, such as of names, are no reason for an event.
 */
export const changeBetween = (before: Catalog, after: Catalog, at: string): CatalogChange | undefined => {
  const { added, removed, repriced, networks_added, networks_removed } = catalogChanges(before, after);
  const was = indexPlans(before);
  const now = indexPlans(after);
  const planOf =
    ({ networks }: typeof was) =>
    ({ id, network_id, name, price }: DataPlan) => ({
      id,
      network_id,
      name,
      price,
      network: networks.get(network_id)?.name ?? "",
    });
  const lists = {
    networks_removed,
    networks_added,
    plans_removed: removed.map(planOf(was)),
    plans_repriced: repriced.map((plan) => ({ ...planOf(now)(plan), previous_price: plan.previous_price })),
    plans_added: added.map(planOf(now)),
  };
  if (Object.values(lists).every(({ length }) => length === 0)) return undefined;
  const fits = byteBudget(ENTRIES_BYTES_MAX);
  // In this order: an app that misses what was removed or repriced sells what it cannot buy, or at a loss.
  const cut = {
    networks_removed: lists.networks_removed.filter(fits),
    networks_added: lists.networks_added.filter(fits),
    plans_removed: lists.plans_removed.filter(fits),
    plans_repriced: lists.plans_repriced.filter(fits),
    plans_added: lists.plans_added.filter(fits),
  };
  const counts = {
    plans_added: lists.plans_added.length,
    plans_removed: lists.plans_removed.length,
    plans_repriced: lists.plans_repriced.length,
    networks_added: lists.networks_added.length,
    networks_removed: lists.networks_removed.length,
  };
  const data: ChangeData = {
    at,
    plans_added: cut.plans_added,
    plans_removed: cut.plans_removed,
    plans_repriced: cut.plans_repriced,
    networks_added: cut.networks_added,
    networks_removed: cut.networks_removed,
    counts,
    truncated: fits.isExceeded(),
  };
  return { at, data: JSON.stringify(data) };
};

/** Accepts entries until their JSON exceeds the limit in bytes, and none after that. */
const byteBudget = (bytesMax: number) => {
  let left = bytesMax;
  const fits = (entry: object): boolean => {
    left -= Buffer.byteLength(JSON.stringify(entry)) + 1;
    return left >= 0;
  };
  return Object.assign(fits, { isExceeded: () => left < 0 });
};
