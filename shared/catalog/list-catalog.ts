import { ServiceError } from "../contract/errors.ts";
import { CATALOG_MAX_AGE_S } from "../contract/limits.ts";
import type { PreparedAnswer } from "../platform/api-answer.ts";
import type { Call } from "../platform/api-handler.ts";
import { type Clock, systemClock } from "../platform/time.ts";
import { builtInSnapshot } from "./built-in.ts";
import type { CatalogMemory } from "./memory.ts";
import { type Snapshot, snapshotBody } from "./snapshot.ts";

/** The first refresh runs each minute until it succeeds. */
const RETRY_AFTER_S = 60;

/** GET /vtu/data: prepared bytes with `ETag` and `Age`, 304 where the caller has them, gzip passed through. */
export const listCatalog =
  (memory: CatalogMemory, clock: Clock = systemClock) =>
  async ({ caller, request }: Pick<Call<unknown>, "caller" | "request">): Promise<PreparedAnswer> => {
    const fetched = await memory.snapshot();
    const snapshot = fetched ?? (caller.mode === "test" ? builtInSnapshot : undefined);
    if (snapshot === undefined) throw new ServiceError("provider_unavailable", { retryAfterS: RETRY_AFTER_S });
    const headers = {
      etag: snapshot.etag,
      "cache-control": `private, max-age=${CATALOG_MAX_AGE_S}`,
      vary: "accept-encoding",
      ...(fetched && { age: String(Math.max(0, Math.floor((clock() - fetched.fetchedAt_ms) / 1_000))) }),
    };
    if (matches(request.headers["if-none-match"], snapshot.etag)) return { statusCode: 304, headers };
    return { statusCode: 200, ...bodyOf(snapshot, request.headers["accept-encoding"], headers) };
  };

const bodyOf = (snapshot: Snapshot, acceptEncoding: string | undefined, headers: Readonly<Record<string, string>>) => {
  const typed = { ...headers, "content-type": "application/json; charset=utf-8" };
  if (!acceptsGzip(acceptEncoding)) return { headers: typed, body: snapshotBody(snapshot) };
  return {
    headers: { ...typed, "content-encoding": "gzip" },
    body: Buffer.from(snapshot.gzip).toString("base64"),
    isBase64Encoded: true,
  };
};

/** RFC 9110, 13.1.2: weak comparison against each tag of the list; `*` matches whatever there is. */
const matches = (ifNoneMatch: string | undefined, etag: string): boolean => {
  const opaque = (tag: string): string => tag.trim().replace(/^W\//, "");
  return ifNoneMatch?.split(",").some((tag) => tag.trim() === "*" || opaque(tag) === opaque(etag)) ?? false;
};

/** RFC 9110, 12.5.3: `gzip` (or `*`) named without a weight of zero. */
const acceptsGzip = (acceptEncoding = ""): boolean => {
  const weights = new Map(
    acceptEncoding
      .toLowerCase()
      .split(",")
      .map((coding) => {
        const [name = "", weight = "q=1"] = coding.split(";").map((part) => part.trim());
        return [name, Number(weight.replace(/^q=/, ""))];
      }),
  );
  return (weights.get("gzip") ?? weights.get("*") ?? 0) > 0;
};
