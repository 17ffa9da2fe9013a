/** Every queue with the function that reads it; each has dead letters of its own, named `<queue>-dead-letters`. */
export const queues = {
  /** An event of an unknown reference is looked at 4 times, and each look is a receive; the others are for faults of ours. */
  outcomes: { consumer: "apply-upstream-event", batchSize: 10, visibilityTimeoutS: 180, receivesMax: 12 },
  /**
   * Waits between attempts are visibility timeouts. Each attempt is a receive; those that an endpoint can cause are 9, the others
   * are for faults of ours.
   */
  delivery: { consumer: "deliver-webhook", batchSize: 1, visibilityTimeoutS: 180, receivesMax: 50 },
} as const satisfies Record<
  string,
  { consumer: string; batchSize: number; visibilityTimeoutS: number; receivesMax: number }
>;
