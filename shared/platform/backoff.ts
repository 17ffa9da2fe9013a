import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { deadlineIn } from "./deadline.ts";
import { sleep } from "./time.ts";

const BASE_MS = 20;
/** Higher caps save attempts at a busy item, and make the last contenders wait longer. */
const CAP_MS = 1_000;

/** Waits before the next attempt. Resolves with false, at once, when no time is left for one. */
export type NextAttempt = () => Promise<boolean>;

/**
 * The one way to wait between attempts: decorrelated jitter. Each wait is random, between the base and three times the wait
 * before, so that contenders spread out. Source: AWS Architecture Blog, "Exponential Backoff And Jitter".
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

/** Another transaction held an item, or DynamoDB throttled: nothing was written, and the call can be made again. */
export const isContention = (error: unknown): boolean =>
  error instanceof TransactionCanceledException
    ? (error.CancellationReasons ?? []).some(({ Code = "" }) => CONTENTION_REASONS.has(Code))
    : error instanceof Error && CONTENTION_ERRORS.has(error.name);

/** How long a single write is tried again; the invocations that make one have more time than that. */
const CONTENTION_RETRY_MS_MAX = 5_000;

/** Makes a call of one item again while another transaction holds the item, or DynamoDB throttles. Every other error leaves at once. */
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
