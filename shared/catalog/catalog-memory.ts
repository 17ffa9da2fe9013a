import { MINUTE_MS } from "../contract/values/durations.ts";
import { errorFields, log } from "../platform/log.ts";
import { type Clock, isRecent } from "../platform/time.ts";
import type { CatalogStore } from "./catalog-store.ts";
import { indexPlans, type PlanIndex } from "./plan-index.ts";
import { catalogOf, type Snapshot } from "./snapshot.ts";

/** How long a process serves its copy before it reads the table again. */
const CATALOG_MEMORY_MS = MINUTE_MS;

export type CatalogMemory = {
  /** The latest catalog, however old; undefined if none was ever fetched. */
  readonly snapshot: () => Promise<Snapshot | undefined>;
  /** Its plans by id. */
  readonly plans: () => Promise<(PlanIndex & { readonly fetchedAtMs: number }) | undefined>;
};

export const catalogMemory = (store: Pick<CatalogStore, "read">, clock: Clock): CatalogMemory => {
  let cached: { readonly snapshot: Snapshot; readonly request: number; readonly requestedAtMs: number } | undefined;
  /** Numbers the requests, because the clock may be set back. */
  let requests = 0;
  let index: { readonly etag: string; readonly plans: PlanIndex } | undefined;

  const snapshot = async (): Promise<Snapshot | undefined> => {
    // An answer may arrive an hour later, after Lambda froze the process: its catalog is as old as the request.
    const requestedAtMs = clock();
    if (cached !== undefined && isRecent(cached.requestedAtMs, CATALOG_MEMORY_MS, requestedAtMs))
      return cached.snapshot;
    requests += 1;
    const request = requests;
    try {
      const latest = (await store.read()) ?? cached?.snapshot;
      const isNewest = cached === undefined || cached.request < request;
      if (latest !== undefined && isNewest) cached = { snapshot: latest, request, requestedAtMs };
    } catch (error) {
      // While the table cannot be read, the copy in memory is served. Callers decide whether it is too old.
      if (cached === undefined) throw error;
      log.warn("catalog.read_failed", errorFields(error));
    }
    return cached?.snapshot;
  };

  const plans = async () => {
    const current = await snapshot();
    if (current === undefined) return undefined;
    if (index?.etag !== current.etag) index = { etag: current.etag, plans: indexPlans(catalogOf(current)) };
    return { ...index.plans, fetchedAtMs: current.fetchedAtMs };
  };

  return { snapshot, plans };
};
