import { type Clock, systemClock } from "./time.ts";
import {
  QUEUE_RESERVE_MS,
  SETTLE_RESERVE_MS,
  UPSTREAM_MS_MAX,
  UPSTREAM_RESERVE_MS,
  UPSTREAM_SHARE_MS,
} from "./time-budgets.ts";

/** The moment by which this invocation must have responded, from Lambda's context. */
export type Deadline = {
  readonly remainingMs: () => number;
  /** How long requests to the upstream took so far, if there were some: for the log line of the invocation. */
  upstreamMs?: number;
};

/** A deadline `budgetMs` from now. */
export const deadlineIn = (budgetMs: number, clock: Clock = systemClock): Deadline => {
  const endMs = clock() + budgetMs;
  return { remainingMs: () => endMs - clock() };
};

/** A signal that aborts after `limitMs`, at once if that is not positive. */
export const abortAfter = (limitMs: number): AbortSignal => AbortSignal.timeout(Math.max(1, Math.floor(limitMs)));

/**
 * Rejects after `limitMs`, whether the work has ended or not. The signal aborts the work; a step without a signal runs
 * on.
 */
export const withTimeout = async <Result>(
  limitMs: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_resolve, reject) => {
    const stop = (): void => {
      controller.abort();
      reject(new Error("No time is left"));
    };
    timer = setTimeout(stop, Math.max(1, Math.floor(limitMs)));
  });
  try {
    return await Promise.race([work(controller.signal), timedOut]);
  } finally {
    clearTimeout(timer);
  }
};

/** A deadline `budgetMs` from now, or `reserveMs` before the one of the whole if that is earlier. */
export const deadlineWithin = (
  whole: Deadline,
  budgetMs: number,
  clock: Clock = systemClock,
  reserveMs = 0,
): Deadline => {
  const { remainingMs } = deadlineIn(budgetMs, clock);
  return { remainingMs: () => Math.min(remainingMs(), whole.remainingMs() - reserveMs) };
};

/** How long the upstream may take. */
export const upstreamBudgetMs = (deadline: Deadline): number =>
  Math.min(UPSTREAM_MS_MAX, deadline.remainingMs() - UPSTREAM_RESERVE_MS);

/** How much longer a debit may wait for a busy wallet. */
export const debitRetryMs = (deadline: Deadline): number =>
  deadline.remainingMs() - UPSTREAM_RESERVE_MS - UPSTREAM_SHARE_MS;

/** How long a settling write may take, or the read that resolves an indeterminate debit. */
export const settleBudgetMs = (deadline: Deadline): number => deadline.remainingMs() - QUEUE_RESERVE_MS;

/** How long a step between the upstream's response and the settlement may take, which it must not delay. */
export const beforeSettlementMs = (deadline: Deadline): number => deadline.remainingMs() - SETTLE_RESERVE_MS;

/** How long a debit may take, including its retries. */
export const debitBudgetMs = (deadline: Deadline): number => deadline.remainingMs() - SETTLE_RESERVE_MS;
