import * as z from "zod";
import { type Catalog, catalogSchema, type DataPlan } from "../contract/catalog.ts";
import { successEnvelope } from "../contract/envelope.ts";
import type { Deadline } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import type { Clock } from "../platform/time.ts";
import type { HttpProvider } from "../upstream/http-provider.ts";
import { catalogChanges, catalogOf, consistentCatalog, type Snapshot, snapshotOf } from "./snapshot.ts";
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

/** Fetches the upstream's catalog when it is due, or at once, and stores it as the bytes to be served, unless something is wrong with it. */
export const refreshCatalog = async (
  { store, upstream, clock }: RefreshDeps,
  deadline: Deadline,
  when: "due" | "now" = "due",
): Promise<Refresh> => {
  const before = await readable(store);
  const isFresh = before !== undefined && clock() - before.fetchedAt_ms < REFRESH_AFTER_MS;
  if (isFresh && when === "due") return { kind: "fresh_enough" };

  const fetched = await fetchCatalog(upstream, deadline);
  if (fetched.kind === "refused") return refuse(fetched.reason, fetched.details);
  const { catalog } = fetched;
  const plans = catalog.data_plans.length;
  const snapshot = snapshotOf(catalog, clock());
  if (snapshot.gzip.length > GZIP_BYTES_MAX) return refuse("too_large", { bytes: snapshot.gzip.length });
  const known = before?.catalog;
  if (known && plans < known.data_plans.length * SHRINK_LIMIT) {
    await store.writeCandidate(snapshot);
    return refuse("halved", { plans, plans_before: known.data_plans.length });
  }
  await store.write(snapshot);
  log.info("catalog.replaced", { plans, ...changes(known ?? { networks: [], data_plans: [] }, catalog) });
  return { kind: "replaced", plans };
};

type Details = Readonly<Record<string, string | number | undefined>>;
export type FetchedCatalog =
  | { readonly kind: "fetched"; readonly catalog: Catalog }
  | {
      readonly kind: "refused";
      readonly reason: "unreachable" | "invalid" | "empty";
      readonly details: Details;
    };

/** The upstream's catalog as it is now, if it is one. */
export const fetchCatalog = async (upstream: RefreshDeps["upstream"], deadline: Deadline): Promise<FetchedCatalog> => {
  const refused = (reason: Extract<FetchedCatalog, { kind: "refused" }>["reason"], details: Details) =>
    ({ kind: "refused", reason, details }) as const;
  const result = await upstream.fetchCatalog(deadline);
  if (result.kind !== "answered") return refused("unreachable", { answer: result.reason });
  if (result.status !== 200) return refused("unreachable", { answer: `status_${result.status}` });
  const parsed = servedCatalog.safeParse(parsedJson(result.body));
  if (!parsed.success) return refused("invalid", { at: parsed.error.issues[0]?.path.join(".") });
  const catalog = parsed.data.data;
  if (catalog.data_plans.length === 0 || catalog.networks.length === 0) return refused("empty", {});
  return { kind: "fetched", catalog };
};

/** The catalog that was refused since the one that is served was fetched. */
export const readCandidate = async (store: CatalogStore): Promise<Snapshot | undefined> => {
  const [served, candidate] = await Promise.all([store.read(), store.readCandidate()]);
  return candidate && candidate.fetchedAt_ms > (served?.fetchedAt_ms ?? 0) ? candidate : undefined;
};

/** Serves the catalog that was refused; undefined where there is none. */
export const acceptCandidate = async (store: CatalogStore): Promise<Catalog | undefined> => {
  const candidate = await readCandidate(store);
  if (candidate === undefined) return undefined;
  await store.write(candidate);
  return catalogOf(candidate);
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

const refuse = (reason: Extract<Refresh, { kind: "refused" }>["reason"], details: Details): Refresh => {
  log.alarm("catalog.refused", { reason, ...details });
  return { kind: "refused", reason };
};

const changes = (before: Catalog, after: Catalog) => {
  const { added, removed, repriced } = catalogChanges(before, after);
  return { added: named(added), removed: named(removed), repriced: named(repriced) };
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
