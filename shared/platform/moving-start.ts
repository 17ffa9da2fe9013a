import { minuteOf } from "./time.ts";

/** Multiples of it, without their whole part, are spread evenly between 0 and 1. */
const GOLDEN_RATIO = 0.618033988749895;

/**
 * The same items in the same order, from another one on in each minute, and from the end on with the first one. A run
 * that has no time for all of them leaves out others than the run before, however few a run takes: none waits for ever.
 */
export const fromMovingStart = <Item>(items: readonly Item[], nowMs: number): readonly Item[] => {
  const first = Math.floor(((minuteOf(nowMs) * GOLDEN_RATIO) % 1) * items.length);
  return [...items.slice(first), ...items.slice(0, first)];
};
