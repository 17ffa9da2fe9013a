import { type RateGroup, rateGroups } from "../contract/limits.ts";
import { type Clock, secondsToNextMinute } from "../platform/time.ts";
import type { ExchangeResult } from "./exchange.ts";

/** This process's knowledge of the upstream's rate limits. */
export type UpstreamLimit = {
  readonly record: (group: RateGroup, result: ExchangeResult) => void;
  /** Seconds until the group may be used again; 0 if it may be used now. */
  readonly waitS: (group: RateGroup) => number;
};

const RETRY_AFTER_S_MAX = 3_600;

/** The response's `Retry-After` in seconds, if it is a plain number. */
export const retryAfterS = (result: ExchangeResult): number | undefined => {
  const text = result.kind === "answered" ? result.headers["retry-after"] : undefined;
  return text !== undefined && /^\d{1,5}$/.test(text) ? Math.min(Number(text), RETRY_AFTER_S_MAX) : undefined;
};

/** Remembers an exhausted group, after `X-RateLimit-Remaining: 0` or a 429, until the upstream's minute is over. */
export const upstreamLimit = (clock: Clock): UpstreamLimit => {
  const freeAtMs = Object.fromEntries(Object.keys(rateGroups).map((group) => [group, 0]));
  return {
    record: (group, result) => {
      if (result.kind !== "answered") return;
      const isExhausted = result.status === 429 || result.headers["x-ratelimit-remaining"] === "0";
      if (!isExhausted) return;
      freeAtMs[group] = clock() + (retryAfterS(result) ?? secondsToNextMinute(clock())) * 1_000;
    },
    waitS: (group) => Math.max(0, Math.ceil(((freeAtMs[group] ?? 0) - clock()) / 1_000)),
  };
};
