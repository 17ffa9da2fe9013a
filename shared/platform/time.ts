/** Milliseconds since the epoch; tests pass their own clock. */
export type Clock = () => number;
export const systemClock: Clock = () => Date.now();

export const isoTime = (atMs: number): string => new Date(atMs).toISOString();

/** Earlier than any stored time. */
export const EPOCH = isoTime(0);

export const sleep = (delayMs: number): Promise<void> => new Promise((wake) => setTimeout(wake, delayMs));

/** The calendar minute of a time, counted since the epoch: the window of the rate limits. */
export const minuteOf = (atMs: number): number => Math.floor(atMs / 60_000);

/** Whole seconds until the next calendar minute, at least 1. */
export const secondsToNextMinute = (atMs: number): number => Math.ceil((60_000 - (atMs % 60_000)) / 1_000);
