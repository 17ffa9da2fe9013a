import { ServiceError } from "../contract/errors.ts";
import type { Mode } from "../contract/transaction.ts";
import { log } from "../platform/log.ts";
import type { Clock } from "../platform/time.ts";
import { builtInPlans } from "./built-in-catalog.ts";
import type { CatalogMemory } from "./catalog-memory.ts";
import type { PlanIndex } from "./plan-index.ts";
import { SELLABLE_AGE_MS_MAX } from "./snapshot.ts";

const RETRY_AFTER_S = 60;

/** The networks and plans for sale. Test keys need no upstream: they fall back to the built-in catalog. */
export const sellablePlans = async (catalog: CatalogMemory, mode: Mode, clock: Clock): Promise<PlanIndex> => {
  const plans = await catalog.plans();
  if (mode === "test") return plans ?? builtInPlans;
  if (plans !== undefined && clock() - plans.fetchedAtMs <= SELLABLE_AGE_MS_MAX) return plans;
  log.alarm("catalog.stale", { filled: plans !== undefined });
  throw new ServiceError("provider_unavailable", { retryAfterS: RETRY_AFTER_S });
};
