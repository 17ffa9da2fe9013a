import type { AttemptResult } from "./attempt.ts";
import { AbortedError, OutcomeUnknownError, type ServiceError } from "./errors.ts";

/** What is known when an attempt has ended. */
export type Situation = {
  /** The order's reference; undefined for a read. */
  readonly reference: string | undefined;
  /** An earlier attempt may have placed the order. */
  readonly mayExist: boolean;
  /** An earlier call may have sent the order, perhaps with other fields: it is not known to this one. */
  readonly sentBefore: boolean;
  /** The wait before the next attempt, if the answer names none. */
  readonly backoffMs: number;
  /** The longest wait after which the deadline still allows an attempt. */
  readonly waitMsMax: number;
};

/** What a call does after an attempt. */
export type NextStep =
  | { readonly kind: "return" }
  | { readonly kind: "retry"; readonly waitMs: number; readonly mayExist: boolean }
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
 * A refusal speaks of its own request only (docs/interface.md 5.6). Once another attempt may have placed the order, it
 * decides nothing about the order unless it names the order's transaction, or shows that the reference belongs to
 * another order, which it then does for ever (7.3). If an earlier call may have sent other fields, for example before a
 * plan's id changed, that other order may be this one.
 */
export const nextStep = (result: AttemptResult<unknown>, isPreliminary: boolean, situation: Situation): NextStep => {
  const { reference } = situation;
  switch (result.kind) {
    case "answered":
      return (isPreliminary && retry(situation, undefined, true)) || { kind: "return" };
    case "refused": {
      const { error } = result;
      const { retryAfterS, transactionReference, code } = error;
      const passes = transactionReference === undefined && (retryAfterS !== undefined || PASSING.has(code));
      const again = passes && retry(situation, retryAfterS, situation.mayExist);
      if (again) return again;
      if (reference === undefined || !situation.mayExist || decides(error, situation)) return { kind: "throw", error };
      return unknown(reference, error);
    }
    case "no_answer": {
      const { error, retryAfterS } = result;
      const { status = 0 } = error;
      const passes = error.reason === "mismatch" || status < 300 || status >= 500 || PASSING_STATUS.has(status);
      const again = passes && retry(situation, retryAfterS, true);
      if (again) return again;
      return reference === undefined ? { kind: "throw", error } : unknown(reference, error);
    }
    case "aborted":
      return { kind: "throw", error: abortError(reference, true, result.cause) };
  }
};

const decides = ({ transactionReference, code }: ServiceError, { sentBefore }: Situation): boolean =>
  transactionReference !== undefined || (code === "reference_reused" && !sentBefore);

const retry = ({ backoffMs, waitMsMax }: Situation, retryAfterS: number | undefined, mayExist: boolean) => {
  const waitMs = retryAfterS === undefined ? backoffMs : retryAfterS * 1_000 + Math.min(backoffMs, JITTER_MS_MAX);
  return waitMs <= waitMsMax && ({ kind: "retry", waitMs, mayExist } as const);
};

const unknown = (reference: string, cause: unknown): NextStep => ({
  kind: "throw",
  error: new OutcomeUnknownError(reference, cause),
});

/** The error of a call that its caller's signal ended. */
export const abortError = (reference: string | undefined, mayExist: boolean, cause: unknown): Error =>
  reference !== undefined && mayExist
    ? new OutcomeUnknownError(reference, cause)
    : new AbortedError(
        reference === undefined ? "The call was aborted" : "The call was aborted before anything was placed",
        { reference },
        { cause },
      );
