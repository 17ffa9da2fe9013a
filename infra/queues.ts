/** Every queue with the function that reads it; each has dead letters of its own, named `<queue>-dead-letters`. */
export const queues = {
  status: { consumer: "apply-status", batchSize: 10, visibilityTimeoutS: 180, receivesMax: 5 },
} as const satisfies Record<
  string,
  { consumer: string; batchSize: number; visibilityTimeoutS: number; receivesMax: number }
>;
