import { type Clock, systemClock } from "./time.ts";

/** The moment by which this invocation must have answered, as Lambda tells it. */
export type Deadline = { readonly remainingMs: () => number };

/** A deadline `budgetMs` from now. */
export const deadlineIn = (budgetMs: number, clock: Clock = systemClock): Deadline => {
  const endMs = clock() + budgetMs;
  return { remainingMs: () => endMs - clock() };
};

/** A signal that aborts after `limitMs`, and at once where that is not positive. */
export const abortAfter = (limitMs: number): AbortSignal => AbortSignal.timeout(Math.max(1, Math.floor(limitMs)));

/**
 * Rejects once `limitMs` have passed, whether the work ends or not. The signal aborts what the work has begun; a step that takes
 * no signal is left behind.
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

export const soonest = (one: Deadline, other: Deadline): Deadline => ({
  remainingMs: () => Math.min(one.remainingMs(), other.remainingMs()),
});

/** Kept back from the upstream for the writes that follow its answer. */
const SETTLE_RESERVE_MS = 6_000;
const UPSTREAM_MS_MAX = 20_000;

/** What the upstream gets of the time that is left: at most 20 s, and 6 s less than we have ourselves. */
export const upstreamBudgetMs = (deadline: Deadline): number =>
  Math.min(UPSTREAM_MS_MAX, deadline.remainingMs() - SETTLE_RESERVE_MS);

/** What the upstream keeps of an order's time, however busy the wallet is: it answers most orders within a few seconds. */
const UPSTREAM_SHARE_MS = 10_000;

/** How much longer a debit may wait for its wallet. */
export const debitRetryMs = (deadline: Deadline): number =>
  deadline.remainingMs() - SETTLE_RESERVE_MS - UPSTREAM_SHARE_MS;

/** Kept back for queueing a verdict that could not be written, and for the answer. */
const QUEUE_RESERVE_MS = 3_500;
/** What a settling write keeps at least while a result is put aside for replays. */
const SETTLE_MS_MIN = 1_500;
/** What the read that finds out what became of a debit keeps at least. */
const LOOKUP_MS_MIN = 1_500;

/** What a settling write gets, or the read that finds out what became of a debit: the queue may be needed after either. */
export const settleBudgetMs = (deadline: Deadline): number => deadline.remainingMs() - QUEUE_RESERVE_MS;

/** What putting a result aside for replays gets: its settling must not wait. */
export const replayBudgetMs = (deadline: Deadline): number => settleBudgetMs(deadline) - SETTLE_MS_MIN;

/** What a debit gets, its repeats included. An order is taken with 7 s left: then its debit has 2 s. */
export const debitBudgetMs = (deadline: Deadline): number => settleBudgetMs(deadline) - LOOKUP_MS_MIN;
