import type { AttemptResult } from "./attempt.ts";
import { AbortedError, OutcomeUnknownError } from "./errors.ts";

/** What is known when an attempt has ended. */
export type Situation = {
  /** The order's reference; undefined for a read. */
  readonly reference: string | undefined;
  /** The wait before the next attempt, if the answer names none. */
  readonly backoffMs: number;
  /** The longest wait after which the deadline still allows an attempt. */
  readonly waitMsMax: number;
};

/** What a call does after an attempt. */
export type NextStep =
  | { readonly kind: "return" }
  | { readonly kind: "retry"; readonly waitMs: number }
  | { readonly kind: "throw"; readonly error: unknown };

/** Added to `Retry-After`, so that callers do not return all at once. */
const JITTER_MS_MAX = 1_000;

/** Refusals that pass by themselves. */
const PASSING = new Set<string>(["rate_limited", "provider_unavailable", "internal_error"]);
/** Statuses without `X-Error-Code` that a proxy or API Gateway answers and that pass by themselves. */
const PASSING_STATUS = new Set([408, 425, 429]);

/**
 * Decides what follows from one attempt.
 *
 * A refusal speaks of its own request only (docs/interface.md 5.6): an earlier attempt may have placed the order, and a
 * copy that something on the way sends later still may. So it decides the order only if it names its transaction.
 */
export const nextStep = (result: AttemptResult<unknown>, isPreliminary: boolean, situation: Situation): NextStep => {
  const { reference } = situation;
  switch (result.kind) {
    case "answered":
      return (isPreliminary && retry(situation, undefined)) || { kind: "return" };
    case "refused": {
      const { error } = result;
      const { retryAfterS, transactionReference, code } = error;
      if (reference !== undefined && transactionReference !== undefined) return { kind: "throw", error };
      const passes = retryAfterS !== undefined || PASSING.has(code);
      const again = passes && retry(situation, retryAfterS);
      return again || thrown(reference, error);
    }
    case "no_answer": {
      const { error, retryAfterS } = result;
      const { status = 0 } = error;
      const passes = error.reason === "mismatch" || status < 300 || status >= 500 || PASSING_STATUS.has(status);
      const again = passes && retry(situation, retryAfterS);
      return again || thrown(reference, error);
    }
    case "aborted":
      return { kind: "throw", error: abortError(reference, true, result.cause) };
  }
};

const retry = ({ backoffMs, waitMsMax }: Situation, retryAfterS: number | undefined) => {
  const waitMs = retryAfterS === undefined ? backoffMs : retryAfterS * 1_000 + Math.min(backoffMs, JITTER_MS_MAX);
  return waitMs <= waitMsMax && ({ kind: "retry", waitMs } as const);
};

const thrown = (reference: string | undefined, error: Error): NextStep => ({
  kind: "throw",
  error: reference === undefined ? error : new OutcomeUnknownError(reference, error),
});

/** The error of a call that its caller's signal ended. */
export const abortError = (reference: string | undefined, isSent: boolean, cause: unknown): Error =>
  reference !== undefined && isSent
    ? new OutcomeUnknownError(reference, cause)
    : new AbortedError(
        reference === undefined ? "The call was aborted" : "The call was aborted before anything was sent",
        { reference },
        { cause },
      );
