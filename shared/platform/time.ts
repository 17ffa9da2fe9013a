import { DAY_MS, HOUR_MS, MINUTE_MS } from "../contract/values/durations.ts";
import { isoTime } from "../contract/values/iso-time.ts";

export { isoTime };

/** Milliseconds since the epoch; tests pass their own clock. */
export type Clock = () => number;
export const systemClock: Clock = () => Date.now();

/** Earlier than any stored time. */
export const EPOCH = isoTime(0);

export const sleep = (delayMs: number): Promise<void> => new Promise((wake) => setTimeout(wake, delayMs));

/** Whether a time is less than this long ago. A time ahead is not: it is from before the clock was set back. */
export const isRecent = (atMs: number, forMs: number, nowMs: number): boolean => atMs <= nowMs && nowMs < atMs + forMs;

/** Nigeria has one time zone, UTC+1, without summer time. */
const LAGOS_OFFSET_MS = HOUR_MS;

/** The date of a time in Lagos, `YYYY-MM-DD`; undefined if it is no date of four-digit years. */
export const dateInLagos = (atMs: number): string | undefined => {
  const inLagos = new Date(atMs + LAGOS_OFFSET_MS);
  const isDay = !Number.isNaN(inLagos.getTime()) && inLagos.getUTCFullYear() <= 9_999;
  return isDay ? inLagos.toISOString().slice(0, 10) : undefined;
};

/** The day of a time in Lagos, counted since the epoch: the window of quotas. */
export const dayInLagos = (atMs: number): number => Math.floor((atMs + LAGOS_OFFSET_MS) / DAY_MS);

/** Whole seconds until the next midnight in Lagos, at least 1. */
export const secondsToMidnightInLagos = (atMs: number): number =>
  Math.ceil((DAY_MS - ((atMs + LAGOS_OFFSET_MS) % DAY_MS)) / 1_000);

/** The calendar minute of a time, counted since the epoch: the window of the rate limits. */
export const minuteOf = (atMs: number): number => Math.floor(atMs / MINUTE_MS);

/** Whole seconds until the next calendar minute, at least 1. */
export const secondsToNextMinute = (atMs: number): number => Math.ceil((MINUTE_MS - (atMs % MINUTE_MS)) / 1_000);
