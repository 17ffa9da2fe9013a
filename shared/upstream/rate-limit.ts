import { headers } from "../contract/headers.ts";
import { type RateGroup, RETRY_AFTER_S_MAX } from "../contract/limits.ts";
import { sum } from "../platform/sum.ts";
import { type Clock, isRecent, secondsToNextMinute } from "../platform/time.ts";
import { CLOCK_DIFFERENCE_MS_MAX } from "../platform/time-budgets.ts";
import type { Answered, ExchangeResult } from "./exchange.ts";
import type { UpstreamProfile } from "./profile.ts";

/** This process's knowledge of the upstream's rate limits, which hold for each key. */
export type UpstreamLimit = {
  /** True if the response is a 429 about its order only. */
  readonly record: (group: RateGroup, result: ExchangeResult, key: string) => boolean;
  /**
   * When the first of the keys may be used again in the group, in milliseconds since the epoch; undefined if one may be
   * used now, or if there is none.
   */
  readonly spentUntilMs: (group: RateGroup, keys: readonly string[]) => number | undefined;
  /** Another process found the keys spent until then; the next response says how many requests are left. */
  readonly learn: (group: RateGroup, keys: readonly string[], untilMs: number) => void;
  /** `spentUntilMs` in seconds from now; 0 if one may be used now. */
  readonly waitS: (group: RateGroup, keys: readonly string[]) => number;
  /**
   * Requests that the upstream still takes from the keys, as it said last. A key whose number is unknown, as in a new
   * minute, counts as one request, whose response states the number.
   */
  readonly requestsLeft: (group: RateGroup, keys: readonly string[]) => number;
  /** Requests that the upstream takes from the keys in a minute. */
  readonly perMinute: (group: RateGroup, keys: readonly string[]) => number;
};

/** The longest time that an instance blocks purchases for, by the clock of another, or by its own that is set back. */
export const BLOCK_MS_MAX = RETRY_AFTER_S_MAX * 1_000 + CLOCK_DIFFERENCE_MS_MAX;
/** A 429 so soon after a success under the same key is about its order, unless it states that none is left. */
const BESIDE_SUCCESS_MS = 1_000;
/** An overtaken response states at most this many more requests than later ones; a larger number is of a new minute. */
const OVERTAKEN_MAX = 10;

/**
 * The response's `Retry-After` in seconds. More than a limit's window counts as the window: the next request finds out
 * whether the limit lasts. 0 means at once. A date, a negative number and other text count as absent.
 */
export const retryAfterS = (result: ExchangeResult): number | undefined => {
  const text = result.kind === "answered" ? result.headers[headers.retryAfter] : undefined;
  return text !== undefined && /^\d+$/.test(text) ? Math.min(Number(text), RETRY_AFTER_S_MAX) : undefined;
};

/** Whether a response has a header of the upstream's rate limit. Source: docs/interface.md 6.3, 6.4. */
export const statesRateLimit = ({ headers: sent }: Answered): boolean =>
  [headers.rateLimit, headers.rateRemaining, headers.retryAfter].some((name) => sent[name] !== undefined);

/** A stated number of requests: at least 0, and below a million. */
const statedCount = ({ headers: sent }: Answered, name: "rateLimit" | "rateRemaining"): number | undefined => {
  const text = sent[headers[name]];
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
};

/**
 * Remembers a key's exhausted group, after `X-RateLimit-Remaining: 0` or a 429, until the upstream's minute is over;
 * and how many requests are left until then. A 429 that states requests left exhausts nothing.
 */
export const upstreamLimit = (clock: Clock, stated: UpstreamProfile["limits"]): UpstreamLimit => {
  const freeAtMs = new Map<string, number>();
  const limits = new Map<RateGroup, number>();
  const left = new Map<string, number>();
  const succeededAtMs = new Map<string, number>();
  const spentUntilMs: UpstreamLimit["spentUntilMs"] = (group, keys) => {
    const nowMs = clock();
    for (const [id, atMs] of freeAtMs) freeAtMs.set(id, Math.min(atMs, nowMs + BLOCK_MS_MAX));
    const firstMs = Math.min(...keys.map((key) => freeAtMs.get(`${group} ${key}`) ?? 0));
    return keys.length > 0 && firstMs > nowMs ? firstMs : undefined;
  };
  return {
    record: (group, result, key) => {
      if (result.kind !== "answered") return false;
      const limit = statedCount(result, "rateLimit");
      if (limit !== undefined && limit > 0) limits.set(group, limit);
      const id = `${group} ${key}`;
      const nowMs = clock();
      if (result.status === 200) succeededAtMs.set(id, nowMs);
      const isSpent = spentUntilMs(group, [key]) !== undefined;
      const succeededMs = succeededAtMs.get(id) ?? Number.NEGATIVE_INFINITY;
      const isBesideSuccess = !isSpent && isRecent(succeededMs, BESIDE_SUCCESS_MS, nowMs);
      const remaining = statedCount(result, "rateRemaining");
      const isAboutOrder = result.status === 429 && (remaining === undefined ? isBesideSuccess : remaining > 0);
      if (remaining === 0 || (result.status === 429 && !isAboutOrder)) {
        const waitS = retryAfterS(result) ?? secondsToNextMinute(nowMs);
        freeAtMs.set(id, nowMs + waitS * 1_000);
        left.delete(id);
      } else if (remaining !== undefined) {
        const known = left.get(id) ?? 0;
        const isNewMinute = remaining > known + OVERTAKEN_MAX;
        left.set(id, known === 0 || isNewMinute ? remaining : Math.min(known, remaining));
      }
      return isAboutOrder;
    },
    spentUntilMs,
    learn: (group, keys, untilMs) => {
      for (const id of keys.map((key) => `${group} ${key}`)) {
        if (untilMs <= (freeAtMs.get(id) ?? 0)) continue;
        freeAtMs.set(id, untilMs);
        left.delete(id);
      }
    },
    requestsLeft: (group, keys) =>
      sum(
        keys.filter((key) => spentUntilMs(group, [key]) === undefined).map((key) => left.get(`${group} ${key}`) ?? 1),
      ),
    waitS: (group, keys) => {
      const nowMs = clock();
      return Math.ceil(((spentUntilMs(group, keys) ?? nowMs) - nowMs) / 1_000);
    },
    perMinute: (group, keys) => (limits.get(group) ?? stated[group]) * Math.max(1, keys.length),
  };
};
