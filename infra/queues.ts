import { QUEUE_FUNCTION_TIMEOUT_S } from "../shared/platform/time-budgets.ts";

/** Source: AWS, "Creating and configuring an Amazon SQS event source mapping". */
const VISIBILITY_TIMEOUT_S = 6 * QUEUE_FUNCTION_TIMEOUT_S;

/** Every queue with the function that reads it; each has dead letters of its own, named `<queue>-dead-letters`. */
export const queues = {
  /** An event of an unknown reference is looked at 4 times, and each look is a receive; the others are for faults of ours. */
  outcomes: {
    consumer: "apply-upstream-event",
    batchSize: 10,
    visibilityTimeoutS: VISIBILITY_TIMEOUT_S,
    receivesMax: 12,
  },
  /**
   * Waits between attempts are visibility timeouts. Each attempt is a receive; those that an endpoint can cause are 9, the others
   * are for faults of ours.
   */
  delivery: { consumer: "deliver-webhook", batchSize: 1, visibilityTimeoutS: VISIBILITY_TIMEOUT_S, receivesMax: 50 },
} as const satisfies Record<
  string,
  { consumer: string; batchSize: number; visibilityTimeoutS: number; receivesMax: number }
>;
