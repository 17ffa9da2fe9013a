import { errorFields, log } from "../platform/log.ts";
import type { Clock } from "../platform/time.ts";
import type { CatalogStore } from "./catalog-store.ts";
import { catalogOf, indexPlans, type PlanIndex, type Snapshot } from "./snapshot.ts";

/** How long a process serves its copy before it reads the table again. */
const CATALOG_MEMORY_MS = 60_000;

/** The catalog, cached in memory. */
export type CatalogMemory = {
  /** The latest catalog, however old; undefined if none was ever fetched. */
  readonly snapshot: () => Promise<Snapshot | undefined>;
  /** Its plans by id. */
  readonly plans: () => Promise<(PlanIndex & { readonly fetchedAtMs: number }) | undefined>;
};

export const catalogMemory = (store: Pick<CatalogStore, "read">, clock: Clock): CatalogMemory => {
  let held: Snapshot | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let index: { readonly etag: string; readonly plans: PlanIndex } | undefined;

  const snapshot = async (): Promise<Snapshot | undefined> => {
    if (held !== undefined && clock() - readAtMs < CATALOG_MEMORY_MS) return held;
    try {
      held = (await store.read()) ?? held;
      readAtMs = clock();
    } catch (error) {
      // While the table cannot be read, the copy in memory is served. Callers decide whether it is too old.
      if (held === undefined) throw error;
      log.warn("catalog.read_failed", errorFields(error));
    }
    return held;
  };

  const plans = async () => {
    const current = await snapshot();
    if (current === undefined) return undefined;
    if (index?.etag !== current.etag) index = { etag: current.etag, plans: indexPlans(catalogOf(current)) };
    return { ...index.plans, fetchedAtMs: current.fetchedAtMs };
  };

  return { snapshot, plans };
};
