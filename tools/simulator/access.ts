import type { IncomingHttpHeaders } from "node:http";
import { type Headers, HttpError } from "./http.ts";

export type Mode = "live" | "test";
export type Caller = { readonly mode: Mode; readonly key: string };
export type RateGroup = "vtu" | "identity" | "catalog";
export type RateLimits = Readonly<Record<RateGroup, number>>;

/** Requests per minute and key. Source: docs/interface.md 6.1. */
export const documentedLimits: RateLimits = { vtu: 60, identity: 30, catalog: 120 };

export const WINDOW_MS = 60_000;
const BEARER = /^Bearer +(\S+)$/i;

/** The key of a request, from either header; the recommended one has precedence. Source: docs/interface.md 2.3. */
const keyOf = (headers: IncomingHttpHeaders): string | undefined => {
  const bearer = BEARER.exec(headers.authorization ?? "")?.[1];
  const apiKey = headers["x-api-key"];
  return bearer ?? (typeof apiKey === "string" ? apiKey : undefined);
};

/** Resolves the caller, or throws a 401. Source: docs/interface.md 2.2, 2.4, 3.1. */
export const authenticate = (
  headers: IncomingHttpHeaders,
  keys: { readonly live: readonly string[]; readonly test: string | undefined },
  isStrict: boolean,
): Caller => {
  const key = keyOf(headers);
  if (key === undefined) throw new HttpError(401, "An API key is required.");
  if (isStrict && !/^(live|test)_/.test(key)) throw new HttpError(401, "The API key begins with live_ or test_.");
  if (keys.live.includes(key)) return { mode: "live", key };
  if (key === keys.test) return { mode: "test", key };
  throw new HttpError(401, "The API key is invalid.");
};

/** Rejects a restricted account and an address that is not whitelisted with 403. Source: docs/interface.md 2.5, 2.6. */
export const authorize = (
  remoteAddress: string,
  account: { readonly restricted: boolean; readonly whitelist: readonly string[] },
): void => {
  if (account.restricted) throw new HttpError(403, "This account is restricted.");
  const address = remoteAddress.replace(/^::ffff:/, "");
  if (!account.whitelist.includes(address)) throw new HttpError(403, `The IP address ${address} is not whitelisted.`);
};

/**
 * `retryAfterS` is present once the limit is exceeded. If a window is no minute, the request that exhausts it gets it
 * too: callers would wait for the end of their clock's minute.
 */
export type Rate = {
  readonly limit: number;
  readonly remaining: number;
  readonly isExceeded: boolean;
  readonly retryAfterS?: number;
};

/** The headers of every response. Source: docs/interface.md 6.3, 6.4. */
export const rateHeaders = (rate: Rate): Headers => {
  const headers = { "X-RateLimit-Limit": String(rate.limit), "X-RateLimit-Remaining": String(rate.remaining) };
  return rate.retryAfterS === undefined ? headers : { ...headers, "Retry-After": String(rate.retryAfterS) };
};

/** Counts requests per key and group; a window, by default of one minute, begins with its first request. */
export class RateCounters {
  readonly #windows = new Map<string, { startMs: number; count: number }>();
  readonly #windowMs: number;
  /** Requests that exceeded the limit, since the start or a reset. */
  refused = 0;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  count(key: string, group: RateGroup, limit: number): Rate {
    const nowMs = Date.now();
    const id = `${group} ${key}`;
    const current = this.#windows.get(id);
    const isOpen = current !== undefined && nowMs < current.startMs + this.#windowMs;
    const window = isOpen ? current : { startMs: nowMs, count: 0 };
    window.count += 1;
    this.#windows.set(id, window);
    const isExceeded = window.count > limit;
    if (isExceeded) this.refused += 1;
    const rate = { limit, remaining: Math.max(0, limit - window.count), isExceeded };
    if (!isExceeded && (this.#windowMs === WINDOW_MS || rate.remaining > 0)) return rate;
    return { ...rate, retryAfterS: Math.ceil((window.startMs + this.#windowMs - nowMs) / 1_000) };
  }

  clear(): void {
    this.#windows.clear();
    this.refused = 0;
  }
}
