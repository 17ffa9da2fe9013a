import type { IncomingHttpHeaders } from "node:http";
import { type Headers, Refusal } from "./wire.ts";

export type Mode = "live" | "test";
export type Caller = { mode: Mode; key: string };
export type RateGroup = "vtu" | "identity" | "catalog";
export type RateLimits = Record<RateGroup, number>;

/** Requests per minute and key. Source: INTERFACE "Limits". */
export const documentedLimits: Readonly<RateLimits> = { vtu: 60, identity: 30, catalog: 120 };

const WINDOW_MS = 60_000;
const BEARER = /^Bearer +(\S+)$/i;

/** The key of a request, from either header; the recommended one is read first. Source: INTERFACE "Authentication" 4. */
function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const bearer = BEARER.exec(headers.authorization ?? "")?.[1];
  const apiKey = headers["x-api-key"];
  return bearer ?? (typeof apiKey === "string" ? apiKey : undefined);
}

/** Who is calling, or a 401. Source: INTERFACE "Authentication" 2, 3 and 6. */
export function authenticate(headers: IncomingHttpHeaders, keys: { live: string; test: string | undefined }): Caller {
  const key = keyOf(headers);
  if (key === undefined) throw new Refusal(401, "An API key is required.");
  if (key === keys.live) return { mode: "live", key };
  if (key === keys.test) return { mode: "test", key };
  throw new Refusal(401, "The API key is invalid.");
}

/** Refuses a restricted account and an address off the list with 403. Source: INTERFACE "Authentication" 5 and 6. */
export function admit(remoteAddress: string, account: { restricted: boolean; whitelist: readonly string[] }): void {
  if (account.restricted) throw new Refusal(403, "This account is restricted.");
  const address = remoteAddress.replace(/^::ffff:/, "");
  if (!account.whitelist.includes(address)) throw new Refusal(403, `The IP address ${address} is not whitelisted.`);
}

/** What is left of the limit; `retryAfterS` is there once the limit is exceeded. */
export type Rate = { limit: number; remaining: number; retryAfterS?: number };

/** The headers that every answer carries. Source: INTERFACE "Limits" 2 and 3. */
export function rateHeaders(rate: Rate): Headers {
  const headers = { "X-RateLimit-Limit": String(rate.limit), "X-RateLimit-Remaining": String(rate.remaining) };
  return rate.retryAfterS === undefined ? headers : { ...headers, "Retry-After": String(rate.retryAfterS) };
}

/** Counts requests per key and group; a minute begins with its first request. */
export class RateCounters {
  readonly #windows = new Map<string, { startMs: number; count: number }>();

  count(key: string, group: RateGroup, limit: number): Rate {
    const nowMs = Date.now();
    const id = `${group} ${key}`;
    const current = this.#windows.get(id);
    const open = current !== undefined && nowMs < current.startMs + WINDOW_MS;
    const window = open ? current : { startMs: nowMs, count: 0 };
    window.count += 1;
    this.#windows.set(id, window);
    if (window.count <= limit) return { limit, remaining: limit - window.count };
    return { limit, remaining: 0, retryAfterS: Math.ceil((window.startMs + WINDOW_MS - nowMs) / 1_000) };
  }

  clear(): void {
    this.#windows.clear();
  }
}
