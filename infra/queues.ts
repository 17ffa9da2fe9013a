import type { Urgency } from "../shared/platform/log.ts";
import { QUEUE_FUNCTION_TIMEOUT_S } from "../shared/platform/time-budgets.ts";

/** Source: AWS, "Creating and configuring an Amazon SQS event source mapping". */
const VISIBILITY_TIMEOUT_S = 6 * QUEUE_FUNCTION_TIMEOUT_S;

/** Every queue with its consumer; each has its own dead-letter queue, `<queue>-dead-letters`. */
export const queues = {
  /** An event with an unknown reference is received 5 times; the other receives are for faults of the service. */
  outcomes: {
    consumer: "apply-upstream-event",
    batchSize: 10,
    visibilityTimeoutS: VISIBILITY_TIMEOUT_S,
    receivesMax: 12,
    concurrencyMax: 10,
    urgency: "page",
  },
  /**
   * Waits of up to 15 minutes are visibility timeouts, and each attempt is a receive: an endpoint can cause 4. The
   * others are for faults of the service. A longer wait ends with a message of its own.
   */
  delivery: {
    consumer: "deliver-webhook",
    batchSize: 1,
    visibilityTimeoutS: VISIBILITY_TIMEOUT_S,
    receivesMax: 50,
    concurrencyMax: 20,
    urgency: "ticket",
  },
} as const satisfies Record<
  string,
  {
    readonly consumer: string;
    readonly batchSize: number;
    readonly visibilityTimeoutS: number;
    readonly receivesMax: number;
    /** Concurrent invocations on AWS, unless the stage sets another number (infra/stages.ts). */
    readonly concurrencyMax: number;
    /** Of its dead letters, and of messages that wait for 15 minutes. */
    readonly urgency: Urgency;
  }
>;
export type QueueName = keyof typeof queues;

/** AWS accepts 2 to 1,000. Source: AWS, "Configuring scaling behavior for SQS event source mappings". */
export const QUEUE_CONCURRENCY_MIN = 2;
export const QUEUE_CONCURRENCY_MAX = 1_000;
