import { cancellationReasons } from "./aws/errors.ts";
import { deadlineIn } from "./deadline.ts";
import { sleep } from "./time.ts";
import { CONTENTION_RETRY_MS_MAX } from "./time-budgets.ts";

const BASE_MS = 20;
/** A higher cap saves attempts at a busy item, but the last contenders wait longer. */
const CAP_MS = 1_000;

/** Waits before the next attempt. Resolves with false at once if no time is left for one. */
export type NextAttempt = () => Promise<boolean>;

/**
 * Exponential backoff with decorrelated jitter: each wait is random, between the base and three times the previous
 * wait, so contenders spread out. Source: AWS Architecture Blog, "Exponential Backoff And Jitter".
 */
export const backoff = (remainingMs: () => number): NextAttempt => {
  let waitMs = BASE_MS;
  return async () => {
    const leftMs = remainingMs();
    if (leftMs <= 0) return false;
    waitMs = Math.min(CAP_MS, BASE_MS + Math.random() * (3 * waitMs - BASE_MS));
    await sleep(Math.min(waitMs, leftMs));
    return true;
  };
};

const CONTENTION_REASONS = new Set([
  "TransactionConflict",
  "ThrottlingError",
  "ProvisionedThroughputExceeded",
  "RequestLimitExceeded",
]);
const CONTENTION_ERRORS = new Set([
  "TransactionConflictException",
  "ThrottlingException",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
]);

/** Another transaction held an item, or DynamoDB throttled: nothing was written, and the call is safe to retry. */
export const isContention = (error: unknown): boolean =>
  cancellationReasons(error).some(({ Code = "" }) => CONTENTION_REASONS.has(Code)) ||
  (error instanceof Error && CONTENTION_ERRORS.has(error.name));

/**
 * Retries a call of one item while another transaction holds the item, or DynamoDB throttles. Throws every other error
 * at once.
 */
export const retryContention = async <Result>(
  call: () => Promise<Result>,
  retryMsMax = CONTENTION_RETRY_MS_MAX,
): Promise<Result> => {
  const nextAttempt = backoff(deadlineIn(retryMsMax).remainingMs);
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isContention(error) || !(await nextAttempt())) throw error;
    }
  }
};
