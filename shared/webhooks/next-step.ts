import { isDelivered, type PostResult } from "./post-result.ts";

/** What happens to the delivery and to its endpoint after an attempt. */
export type NextStep =
  | { readonly kind: "delivered" }
  | { readonly kind: "retry"; readonly afterS: number }
  | { readonly kind: "exhausted" }
  | { readonly kind: "switch_off"; readonly reason: "gone" | "failing_for_days" };

const MINUTE_S = 60;
const HOUR_S = 3_600;

/** Delay after the first, second, ... failed attempt. Source: docs/interface.md 15.D5. */
export const retryDelaysS = [
  5,
  MINUTE_S,
  5 * MINUTE_S,
  30 * MINUTE_S,
  2 * HOUR_S,
  5 * HOUR_S,
  10 * HOUR_S,
  10 * HOUR_S,
] as const;

/** Added at random, so that attempts that failed together are not retried together. */
const JITTER_SHARE_MAX = 0.1;

/** An endpoint that has failed for this long is switched off. */
export const FAILING_MS_MAX = 5 * 24 * HOUR_S * 1_000;

const GONE = 410;

/** A longer wait is not spent in the queue: the delivery is parked. */
export const QUEUE_WAIT_MS_MAX = 15 * MINUTE_S * 1_000;

const PROBE_MS_MIN = MINUTE_S * 1_000;
const PROBE_MS_MAX = 5 * MINUTE_S * 1_000;

/** The time between two probes of an endpoint that is down: as long as it has failed, within limits. */
export const probeIntervalMs = (failingSinceMs: number, nowMs: number): number =>
  Math.min(PROBE_MS_MAX, Math.max(PROBE_MS_MIN, nowMs - failingSinceMs));

export type AttemptContext = {
  /** 1 for the first. */
  readonly attempt: number;
  /** The first failure since the endpoint's last success; undefined after a success. */
  readonly failingSinceMs: number | undefined;
  readonly nowMs: number;
  /** From 0 up to 1. */
  readonly random: number;
};

/** Decides what follows an attempt. Source: docs/interface.md 15.D4 to 15.D6. */
export const decideNextStep = (
  result: PostResult,
  { attempt, failingSinceMs, nowMs, random }: AttemptContext,
): NextStep => {
  if (isDelivered(result)) return { kind: "delivered" };
  if (result.status === GONE) return { kind: "switch_off", reason: "gone" };
  if (failingSinceMs !== undefined && nowMs - failingSinceMs >= FAILING_MS_MAX) {
    return { kind: "switch_off", reason: "failing_for_days" };
  }
  const delayS = retryDelaysS[attempt - 1];
  if (delayS === undefined) return { kind: "exhausted" };
  return { kind: "retry", afterS: delayS * (1 + JITTER_SHARE_MAX * random) };
};
