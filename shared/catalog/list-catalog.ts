import type { Call } from "../call/call.ts";
import { serveDocument } from "../call/prepared-document.ts";
import type { PreparedResponse } from "../call/result.ts";
import { ServiceError } from "../contract/errors.ts";
import { headers } from "../contract/headers.ts";
import { CATALOG_MAX_AGE_S } from "../contract/limits.ts";
import { boundedMap } from "../platform/bounded-map.ts";
import { type Clock, systemClock } from "../platform/time.ts";
import { pricedCatalog } from "../prices/price-catalog.ts";
import type { PriceRules } from "../prices/price-list.ts";
import { nextChangeMs, type PriceRule } from "../prices/price-rule.ts";
import { builtInSnapshot } from "./built-in-catalog.ts";
import type { CatalogMemory } from "./catalog-memory.ts";
import { catalogOf, type Snapshot, snapshotOf } from "./snapshot.ts";

/** Until the first refresh succeeds, it runs each minute. */
const RETRY_AFTER_S = 60;

/**
 * GET /vtu/data: prepared bytes with `ETag` and `Age`; 304 if the caller has them. An account with price rules gets its
 * own prices, and no copy stays fresh beyond the next change of them.
 */
export const listCatalog = (memory: CatalogMemory, prices: PriceRules, clock: Clock = systemClock) => {
  const priced = pricedSnapshots();
  return async ({ caller, request }: Pick<Call<unknown>, "caller" | "request">): Promise<PreparedResponse> => {
    const fetched = await memory.snapshot();
    const snapshot = fetched ?? (caller.mode === "test" ? builtInSnapshot : undefined);
    if (snapshot === undefined) throw new ServiceError("provider_unavailable", { retryAfterS: RETRY_AFTER_S });
    const rules = await prices(caller);
    const nowMs = clock();
    const ageS = fetched && Math.max(0, Math.floor((nowMs - fetched.fetchedAtMs) / 1_000));
    const changeMs = nextChangeMs(rules, nowMs);
    const changeS = changeMs === undefined ? CATALOG_MAX_AGE_S : Math.floor((changeMs - nowMs) / 1_000);
    const document = rules.length === 0 ? snapshot : priced(caller.accountId, snapshot, rules, nowMs);
    return serveDocument(document, request, {
      contentType: "application/json; charset=utf-8",
      cacheControl: `private, max-age=${Math.min(CATALOG_MAX_AGE_S, changeS)}`,
      // An app with keys of two accounts may have one cache.
      varyBy: ["authorization", headers.apiKey],
      ...(ageS !== undefined && { ageS }),
    });
  };
};

const PRICED_MAX = 50;

/** The catalogs of accounts with price rules, each prepared once until the catalog or a price changes. */
const pricedSnapshots = () => {
  type Priced = {
    readonly etag: string;
    readonly rules: readonly PriceRule[];
    readonly fromMs: number;
    readonly untilMs: number;
    readonly snapshot: Snapshot;
  };
  const kept = boundedMap<string, Priced>(PRICED_MAX);
  return (accountId: string, base: Snapshot, rules: readonly PriceRule[], nowMs: number): Snapshot => {
    const known = kept.get(accountId);
    const isCurrent = known?.etag === base.etag && known.rules === rules;
    if (known && isCurrent && nowMs >= known.fromMs && nowMs < known.untilMs) return known.snapshot;
    const snapshot = snapshotOf(pricedCatalog(catalogOf(base), rules, nowMs), base.fetchedAtMs);
    const untilMs = nextChangeMs(rules, nowMs) ?? Number.POSITIVE_INFINITY;
    kept.set(accountId, { etag: base.etag, rules, fromMs: nowMs, untilMs, snapshot });
    return snapshot;
  };
};
