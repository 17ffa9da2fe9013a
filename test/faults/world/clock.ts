import { runs } from "./effects.ts";

/**
 * The time of everything in this process: ours, and that of the SQS emulator which runs in it. It runs as always, and a test can
 * make it jump: a queue's message becomes visible, a key's minute is over, a check was abandoned.
 */
const realNow = Date.now.bind(Date);
let aheadMs = 0;
Date.now = () => realNow() + aheadMs;

export const jump = (byMs: number): void => {
  aheadMs += byMs;
};

/** Waits before another try are this much shorter than they say; time-outs are whole seconds, and stay. */
export const HURRY = 20;
const TIMEOUT_MS_MIN = 1_000;
const wait = globalThis.setTimeout;

/** Lets the runs of our code, and the SDK in them, wait less. Returns what puts that back. */
export const hurry = (): (() => void) => {
  const hurried = (act: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]) =>
    wait(act, runs.getStore() && delayMs < TIMEOUT_MS_MIN ? delayMs / HURRY : delayMs, ...args);
  globalThis.setTimeout = Object.assign(hurried, wait);
  return () => {
    globalThis.setTimeout = wait;
  };
};
