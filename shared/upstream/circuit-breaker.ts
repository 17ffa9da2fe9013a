import { RETRY_AFTER_S_MAX } from "../contract/limits.ts";
import type { Clock } from "../platform/time.ts";
import { isUnrecognized } from "./classify.ts";
import type { ExchangeResult } from "./exchange.ts";
import { BLOCK_MS_MAX } from "./rate-limit.ts";
import type { Outcome } from "./upstream.ts";

/** Answers in a row that are not the upstream's, after which purchases stop for a minute. */
const UNRECOGNIZED_MAX = 3;

/**
 * Stops purchases while something else answers in the upstream's place: with a wrong base URL each order would stay
 * `processing` until an operator settles it. After a minute one order finds out whether the upstream answers again.
 */
export const circuitBreaker = (clock: Clock) => {
  let unrecognized = 0;
  let openUntilMs = 0;
  /** Until when purchases stop, or stopped if the upstream has not answered since; 0 if it has. */
  const untilMs = (): number => {
    openUntilMs = Math.min(openUntilMs, clock() + BLOCK_MS_MAX);
    return unrecognized >= UNRECOGNIZED_MAX ? openUntilMs : 0;
  };
  return {
    record: (result: ExchangeResult, outcome: Outcome): void => {
      if (isUnrecognized(outcome)) {
        unrecognized += 1;
        if (unrecognized >= UNRECOGNIZED_MAX) openUntilMs = clock() + RETRY_AFTER_S_MAX * 1_000;
      } else if (result.kind === "answered" && result.status < 500) {
        // A 5xx, or no answer, says nothing about who answers.
        unrecognized = 0;
      }
    },
    /** Whole seconds until an order may be sent; 0 if one may be sent now. */
    waitS: (): number => Math.ceil(Math.max(0, untilMs() - clock()) / 1_000),
    /** False from the first answer that is not the upstream's until the next that is. Then orders go one at a time. */
    isTrusted: (): boolean => unrecognized === 0,
    untilMs,
    /** Takes over that another instance has stopped purchases until then, unless this one knows it already. */
    learn: (sharedMs: number): void => {
      if (sharedMs <= openUntilMs) return;
      openUntilMs = sharedMs;
      unrecognized = UNRECOGNIZED_MAX;
    },
  };
};
