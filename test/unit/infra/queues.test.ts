import { expect, test } from "vitest";
import { queues } from "../../../infra/queues.ts";
import { FAULT_RETRY_S } from "../../../shared/call/message-result.ts";

/** Of an event with an unknown reference; an endpoint that does not answer causes fewer. */
const EVENT_RECEIVES = 5;
const HOUR_S = 3_600;

test.each(Object.entries(queues))("a message of %s that AWS makes fail for 6 hours is no dead letter", (_, spec) => {
  expect((spec.receivesMax - EVENT_RECEIVES) * spec.visibilityTimeoutS).toBeGreaterThanOrEqual(6 * HOUR_S);
});

test.each(Object.entries(queues))("a message of %s that always fails is a dead letter within 35 minutes", (_, spec) => {
  expect(spec.receivesMax * FAULT_RETRY_S).toBeLessThan(35 * 60);
});

test.each(Object.entries(queues))("SQS accepts the number of receives of %s", (_, spec) => {
  // Source: AWS, "Using dead-letter queues in Amazon SQS", maxReceiveCount.
  expect(spec.receivesMax).toBeLessThanOrEqual(1_000);
});
