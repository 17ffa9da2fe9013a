import { runs } from "./effects.ts";

/**
 * The time of everything in this process: ours, and that of the SQS emulator which runs in it. It runs as always, and a test can
 * make it jump: a queue's message becomes visible, a key's minute is over, a check was abandoned.
 */
const realNow = Date.now.bind(Date);
let ahead_ms = 0;
Date.now = () => realNow() + ahead_ms;

export const jump = (by_ms: number): void => {
  ahead_ms += by_ms;
};

/** Waits before another try are this much shorter than they say; time-outs are whole seconds, and stay. */
export const HURRY = 20;
const TIMEOUT_MS_MIN = 1_000;
const wait = globalThis.setTimeout;

/** Lets the runs of our code, and the SDK in them, wait less. Returns what puts that back. */
export const hurry = (): (() => void) => {
  const hurried = (act: (...args: unknown[]) => void, delay_ms = 0, ...args: unknown[]) =>
    wait(act, runs.getStore() && delay_ms < TIMEOUT_MS_MIN ? delay_ms / HURRY : delay_ms, ...args);
  globalThis.setTimeout = Object.assign(hurried, wait);
  return () => {
    globalThis.setTimeout = wait;
  };
};
