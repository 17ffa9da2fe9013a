import * as z from "zod";
import { type Catalog, catalogSchema, type DataPlan } from "../contract/catalog.ts";
import { successEnvelope } from "../contract/envelope.ts";
import type { Deadline } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import type { Clock } from "../platform/time.ts";
import type { HttpProvider } from "../upstream/http-provider.ts";
import { catalogOf, consistentCatalog, snapshotOf } from "./snapshot.ts";
import type { CatalogStore } from "./store.ts";

/** How old the catalog gets before it is fetched again. The schedule looks each minute. */
const REFRESH_AFTER_MS = 3_600_000;
/** A catalog with less than this share of the plans before is taken for an accident of the upstream. */
const SHRINK_LIMIT = 0.5;
/** What one DynamoDB item can hold beside its other attributes. */
const GZIP_BYTES_MAX = 380_000;

export type Refresh =
  | { readonly kind: "fresh_enough" }
  | { readonly kind: "replaced"; readonly plans: number }
  /** The one before stays. */
  | { readonly kind: "refused"; readonly reason: "unreachable" | "invalid" | "empty" | "halved" | "too_large" };

export type RefreshDeps = {
  readonly store: CatalogStore;
  readonly upstream: Pick<HttpProvider, "fetchCatalog">;
  readonly clock: Clock;
};

/** Fetches the upstream's catalog when it is due, and stores it as the bytes to be served, unless something is wrong with it. */
export const refreshCatalog = async ({ store, upstream, clock }: RefreshDeps, deadline: Deadline): Promise<Refresh> => {
  const before = await readable(store);
  if (before !== undefined && clock() - before.fetchedAt_ms < REFRESH_AFTER_MS) return { kind: "fresh_enough" };

  const result = await upstream.fetchCatalog(deadline);
  if (result.kind !== "answered" || result.status !== 200) {
    return refuse("unreachable", { answer: result.kind === "answered" ? `status_${result.status}` : result.reason });
  }
  const parsed = servedCatalog.safeParse(parsedJson(result.body));
  if (!parsed.success) return refuse("invalid", { at: parsed.error.issues[0]?.path.join(".") });
  const catalog = parsed.data.data;
  const plans = catalog.data_plans.length;
  if (plans === 0 || catalog.networks.length === 0) return refuse("empty", {});
  const known = before?.catalog;
  if (known && plans < known.data_plans.length * SHRINK_LIMIT) {
    return refuse("halved", { plans, plans_before: known.data_plans.length });
  }
  const snapshot = snapshotOf(catalog, clock());
  if (snapshot.gzip.length > GZIP_BYTES_MAX) return refuse("too_large", { bytes: snapshot.gzip.length });
  await store.write(snapshot);
  log.info("catalog.replaced", { plans, ...changes(known ?? { networks: [], data_plans: [] }, catalog) });
  return { kind: "replaced", plans };
};

/** The catalog before, or undefined where there is none that this version can read: then it is replaced. */
const readable = async (store: CatalogStore) => {
  try {
    const snapshot = await store.read();
    return snapshot && { fetchedAt_ms: snapshot.fetchedAt_ms, catalog: catalogOf(snapshot) };
  } catch (error) {
    log.error("catalog.unreadable", errorFields(error));
    return undefined;
  }
};

const servedCatalog = successEnvelope(z.pipe(catalogSchema, consistentCatalog));

const refuse = (
  reason: Extract<Refresh, { kind: "refused" }>["reason"],
  details: Readonly<Record<string, string | number | undefined>>,
): Refresh => {
  log.error("catalog.refused", { reason, ...details });
  return { kind: "refused", reason };
};

/** Which plans came, went or changed their price. */
const changes = (before: Catalog, after: Catalog) => {
  const priceBefore = new Map(before.data_plans.map(({ id, price }) => [id, price]));
  const idsAfter = new Set(after.data_plans.map(({ id }) => id));
  return {
    added: named(after.data_plans.filter(({ id }) => !priceBefore.has(id))),
    removed: named(before.data_plans.filter(({ id }) => !idsAfter.has(id))),
    repriced: named(after.data_plans.filter(({ id, price }) => (priceBefore.get(id) ?? price) !== price)),
  };
};

const NAMED_MAX = 10;
/** `3: 101 102 103`, and no more ids than a log line can bear. */
const named = (plans: readonly DataPlan[]): string => {
  const ids = plans.slice(0, NAMED_MAX).map(({ id }) => id);
  return [`${plans.length}:`, ...ids, ...(plans.length > NAMED_MAX ? ["..."] : [])].join(" ");
};

const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
