import { QUEUE_FUNCTION_TIMEOUT_S } from "../shared/platform/time-budgets.ts";

/** Source: AWS, "Creating and configuring an Amazon SQS event source mapping". */
const VISIBILITY_TIMEOUT_S = 6 * QUEUE_FUNCTION_TIMEOUT_S;

/** Every queue with its consumer; each has its own dead-letter queue, `<queue>-dead-letters`. */
export const queues = {
  /** An event with an unknown reference is received 4 times; the other receives are for faults of the service. */
  outcomes: {
    consumer: "apply-upstream-event",
    batchSize: 10,
    visibilityTimeoutS: VISIBILITY_TIMEOUT_S,
    receivesMax: 12,
  },
  /**
   * Waits between attempts are visibility timeouts, and each attempt is a receive. An endpoint can cause 9; the others
   * are for faults of the service.
   */
  delivery: { consumer: "deliver-webhook", batchSize: 1, visibilityTimeoutS: VISIBILITY_TIMEOUT_S, receivesMax: 50 },
} as const satisfies Record<
  string,
  { consumer: string; batchSize: number; visibilityTimeoutS: number; receivesMax: number }
>;
