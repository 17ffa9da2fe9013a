import { type RateGroup, rateGroups } from "../contract/limits.ts";
import { type Clock, secondsToNextMinute } from "../platform/time.ts";
import type { ExchangeResult } from "./exchange.ts";

/** This process's knowledge of the upstream's rate limits, which hold for each key. */
export type UpstreamLimit = {
  readonly record: (group: RateGroup, result: ExchangeResult, key: string) => void;
  /**
   * When the first of the keys may be used again in the group, in milliseconds since the epoch; undefined if one may be
   * used now, or if there is none.
   */
  readonly spentUntilMs: (group: RateGroup, keys: readonly string[]) => number | undefined;
  /** The same in seconds from now; 0 if one may be used now. */
  readonly waitS: (group: RateGroup, keys: readonly string[]) => number;
  /** Requests that the upstream takes from the keys in a minute. */
  readonly perMinute: (group: RateGroup, keys: readonly string[]) => number;
};

const RETRY_AFTER_S_MAX = 3_600;

/** The response's `Retry-After` in seconds, if it is a plain number. */
export const retryAfterS = (result: ExchangeResult): number | undefined => {
  const text = result.kind === "answered" ? result.headers["retry-after"] : undefined;
  return text !== undefined && /^\d{1,5}$/.test(text) ? Math.min(Number(text), RETRY_AFTER_S_MAX) : undefined;
};

/** Remembers a key's exhausted group, after `X-RateLimit-Remaining: 0` or a 429, until the upstream's minute is over. */
export const upstreamLimit = (clock: Clock): UpstreamLimit => {
  const freeAtMs = new Map<string, number>();
  const limits = new Map<RateGroup, number>();
  const spentUntilMs: UpstreamLimit["spentUntilMs"] = (group, keys) => {
    const firstMs = Math.min(...keys.map((key) => freeAtMs.get(`${group} ${key}`) ?? 0));
    return keys.length > 0 && firstMs > clock() ? firstMs : undefined;
  };
  return {
    record: (group, result, key) => {
      if (result.kind !== "answered") return;
      const limit = result.headers["x-ratelimit-limit"];
      if (limit !== undefined && /^[1-9]\d{0,5}$/.test(limit)) limits.set(group, Number(limit));
      const isExhausted = result.status === 429 || result.headers["x-ratelimit-remaining"] === "0";
      if (!isExhausted) return;
      const waitS = retryAfterS(result) ?? secondsToNextMinute(clock());
      freeAtMs.set(`${group} ${key}`, clock() + waitS * 1_000);
    },
    spentUntilMs,
    waitS: (group, keys) => {
      const nowMs = clock();
      return Math.ceil(((spentUntilMs(group, keys) ?? nowMs) - nowMs) / 1_000);
    },
    perMinute: (group, keys) => (limits.get(group) ?? rateGroups[group].requestsPerMinute) * Math.max(1, keys.length),
  };
};
