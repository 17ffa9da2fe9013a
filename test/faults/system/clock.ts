import { JOIN_MS_MAX } from "../../../shared/platform/time-budgets.ts";
import { runs } from "./effects.ts";

/**
 * The clock of this process, so that of our code and of the SQS emulator. A test can advance it: a queue's message
 * becomes visible, a minute's rate limit ends, a check counts as abandoned.
 */
const realNow = Date.now.bind(Date);
let aheadMs = 0;
Date.now = () => realNow() + aheadMs;

export const advance = (byMs: number): void => {
  aheadMs += byMs;
};

/** Retries wait this much shorter than they say. */
export const SPEED_UP = 20;
/** From here on a delay is the time-out of a call under way, which keeps its length. */
const TIMEOUT_MS_MIN = 1_000;
/** So long a run waits for what another run shares with it, such as a request for a secret; that one may have died. */
const isWait = (delayMs: number): boolean => delayMs < TIMEOUT_MS_MIN || delayMs === JOIN_MS_MAX;
const { setTimeout: realSetTimeout } = globalThis;

/** Shortens the waits of the runs of our code, and of the SDK in them. Returns the function that undoes it. */
export const shortenWaits = (): (() => void) => {
  const shortened = (act: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]) =>
    realSetTimeout(act, runs.getStore() && isWait(delayMs) ? delayMs / SPEED_UP : delayMs, ...args);
  globalThis.setTimeout = Object.assign(shortened, realSetTimeout);
  return () => {
    globalThis.setTimeout = realSetTimeout;
  };
};
