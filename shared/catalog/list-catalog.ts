import type { Call } from "../call/call.ts";
import { serveDocument } from "../call/prepared-document.ts";
import type { PreparedResponse } from "../call/result.ts";
import { ServiceError } from "../contract/errors.ts";
import { CATALOG_MAX_AGE_S } from "../contract/limits.ts";
import { type Clock, systemClock } from "../platform/time.ts";
import { builtInSnapshot } from "./built-in-catalog.ts";
import type { CatalogMemory } from "./catalog-memory.ts";

/** Until the first refresh succeeds, it runs each minute. */
const RETRY_AFTER_S = 60;

/** GET /vtu/data: prepared bytes with `ETag` and `Age`; 304 if the caller has them. */
export const listCatalog =
  (memory: CatalogMemory, clock: Clock = systemClock) =>
  async ({ caller, request }: Pick<Call<unknown>, "caller" | "request">): Promise<PreparedResponse> => {
    const fetched = await memory.snapshot();
    const snapshot = fetched ?? (caller.mode === "test" ? builtInSnapshot : undefined);
    if (snapshot === undefined) throw new ServiceError("provider_unavailable", { retryAfterS: RETRY_AFTER_S });
    return serveDocument(snapshot, request, {
      contentType: "application/json; charset=utf-8",
      cacheControl: `private, max-age=${CATALOG_MAX_AGE_S}`,
      ...(fetched && { ageS: Math.max(0, Math.floor((clock() - fetched.fetchedAtMs) / 1_000)) }),
    });
  };
