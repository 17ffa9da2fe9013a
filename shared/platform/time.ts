/** Milliseconds since the epoch; a test passes its own. */
export type Clock = () => number;
export const systemClock: Clock = () => Date.now();

export const isoTime = (at_ms: number): string => new Date(at_ms).toISOString();

/** Earlier than everything that a table holds. */
export const EPOCH = isoTime(0);

export const sleep = (delay_ms: number): Promise<void> => new Promise((wake) => setTimeout(wake, delay_ms));

/** The calendar minute of a moment, as a count since the epoch: the window of the rate limits. */
export const minuteOf = (at_ms: number): number => Math.floor(at_ms / 60_000);

/** Whole seconds until the next calendar minute, at least 1. */
export const secondsToNextMinute = (at_ms: number): number => Math.ceil((60_000 - (at_ms % 60_000)) / 1_000);
