import type { QueueName } from "../functions/function-spec.ts";
import type { Urgency } from "../shared/platform/log-catalog.ts";
import { QUEUE_FUNCTION_TIMEOUT_S } from "../shared/platform/time-budgets.ts";
import { type FunctionName, invokedBy } from "./functions.ts";

/** Source: AWS, "Creating and configuring an Amazon SQS event source mapping". */
const VISIBILITY_TIMEOUT_S = 6 * QUEUE_FUNCTION_TIMEOUT_S;
/**
 * Each receive that fails because of AWS is 3 minutes after the one before: an outage of 6 hours ends without a dead letter.
 * An event with an unknown reference is received 5 times besides, and an endpoint can cause 4 receives.
 */
const RECEIVES_MAX = 125;

const consumerOf = (queue: QueueName): FunctionName =>
  invokedBy((trigger) => trigger.kind === "queue" && trigger.queue === queue);

export type QueueSpec = {
  readonly consumer: FunctionName;
  readonly batchSize: number;
  /** At least six times the consumer's time-out (Lambda's SQS guide). */
  readonly visibilityTimeoutS: number;
  readonly receivesMax: number;
  /** Concurrent invocations on AWS, unless the stage sets another number (stages.ts). */
  readonly concurrencyMax: number;
  /** The urgency of the alarms on dead letters and on messages that wait for 15 minutes. */
  readonly urgency: Urgency;
  /** What a customer loses by a dead letter. */
  readonly lostImpact: string;
};

/** Every queue with its consumer; each has its own dead-letter queue, `<queue>-dead-letters`. */
export const queues = {
  outcomes: {
    consumer: consumerOf("outcomes"),
    batchSize: 10,
    visibilityTimeoutS: VISIBILITY_TIMEOUT_S,
    receivesMax: RECEIVES_MAX,
    concurrencyMax: 10,
    urgency: "page",
    lostImpact: "Customers' transactions stay open and unrefunded: outcomes were given up.",
  },
  /**
   * Waits of up to 15 minutes are visibility timeouts, and each attempt is a receive. A longer wait ends with a message
   * of its own. A batch is posted at once, so it lasts no longer than its slowest endpoint, and an endpoint has at most
   * `batchSize` posts of each invocation.
   */
  delivery: {
    consumer: consumerOf("delivery"),
    batchSize: 5,
    visibilityTimeoutS: VISIBILITY_TIMEOUT_S,
    receivesMax: RECEIVES_MAX,
    concurrencyMax: 20,
    urgency: "ticket",
    lostImpact: "Apps do not learn how their transactions ended: webhooks were given up.",
  },
} as const satisfies Record<QueueName, QueueSpec>;

/** AWS accepts 2 to 1,000. Source: AWS, "Configuring scaling behavior for SQS event source mappings". */
export const QUEUE_CONCURRENCY_MIN = 2;
export const QUEUE_CONCURRENCY_MAX = 1_000;
