import { type Clock, systemClock } from "./time.ts";

/** The moment by which this invocation must have answered, as Lambda tells it. */
export type Deadline = { readonly remaining_ms: () => number };

/** A deadline `budget_ms` from now. */
export const deadlineIn = (budget_ms: number, clock: Clock = systemClock): Deadline => {
  const end_ms = clock() + budget_ms;
  return { remaining_ms: () => end_ms - clock() };
};

/** A signal that aborts after `limit_ms`, and at once where that is not positive. */
export const abortAfter = (limit_ms: number): AbortSignal => AbortSignal.timeout(Math.max(1, Math.floor(limit_ms)));

/**
 * Rejects once `limit_ms` have passed, whether the work ends or not. The signal aborts what the work has begun; a step that takes
 * no signal is left behind.
 */
export const withTimeout = async <Result>(
  limit_ms: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_resolve, reject) => {
    const stop = (): void => {
      controller.abort();
      reject(new Error("No time is left"));
    };
    timer = setTimeout(stop, Math.max(1, Math.floor(limit_ms)));
  });
  try {
    return await Promise.race([work(controller.signal), timedOut]);
  } finally {
    clearTimeout(timer);
  }
};

export const soonest = (one: Deadline, other: Deadline): Deadline => ({
  remaining_ms: () => Math.min(one.remaining_ms(), other.remaining_ms()),
});

/** Kept back from the upstream for the writes that follow its answer. */
const SETTLE_RESERVE_MS = 6_000;
const UPSTREAM_MS_MAX = 20_000;

/** What the upstream gets of the time that is left: at most 20 s, and 6 s less than we have ourselves. */
export const upstreamBudget_ms = (deadline: Deadline): number =>
  Math.min(UPSTREAM_MS_MAX, deadline.remaining_ms() - SETTLE_RESERVE_MS);

/** What the upstream keeps of an order's time, however busy the wallet is: it answers most orders within a few seconds. */
const UPSTREAM_SHARE_MS = 10_000;

/** How much longer a debit may wait for its wallet. */
export const debitRetry_ms = (deadline: Deadline): number =>
  deadline.remaining_ms() - SETTLE_RESERVE_MS - UPSTREAM_SHARE_MS;

/** Kept back for queueing a verdict that could not be written, and for the answer. */
const QUEUE_RESERVE_MS = 3_500;
/** What a settling write keeps at least while a result is put aside for replays. */
const SETTLE_MS_MIN = 1_500;
/** What the read that finds out what became of a debit keeps at least. */
const LOOKUP_MS_MIN = 1_500;

/** What a settling write gets, or the read that finds out what became of a debit: the queue may be needed after either. */
export const settleBudget_ms = (deadline: Deadline): number => deadline.remaining_ms() - QUEUE_RESERVE_MS;

/** What putting a result aside for replays gets: its settling must not wait. */
export const replayBudget_ms = (deadline: Deadline): number => settleBudget_ms(deadline) - SETTLE_MS_MIN;

/** What a debit gets, its repeats included. An order is taken with 7 s left: then its debit has 2 s. */
export const debitBudget_ms = (deadline: Deadline): number => settleBudget_ms(deadline) - LOOKUP_MS_MIN;
