import * as z from "#zod";
import { replaceableObject } from "../contract/lazy-object.ts";
import { TRANSACTION_UPDATED } from "../contract/webhook-events.ts";
import { getItem } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { putIf } from "../ledger/put-if.ts";
import { accountEventDeliveryPk, deliveriesList, deliveryPk, endpointOf, parkedDeliveries } from "../ledger/schema.ts";
import { isoTime } from "../platform/time.ts";
import type { DeliveryMessage } from "./delivery-queue.ts";
import { KEPT_RESPONSE_HEADERS } from "./post-result.ts";
import { accountEvent, accountEventId, transactionEvent } from "./webhook-event.ts";

/**
 * `pending` waits for its next attempt; every other state is final. `removed`: its endpoint was, before it was delivered.
 */
const deliveryState = z.enum(["pending", "delivered", "exhausted", "switched_off", "removed"]);
export type DeliveryState = z.infer<typeof deliveryState>;

const attemptSchema = replaceableObject(() => ({
  number: z.int().check(z.minimum(1)),
  at: z.iso.datetime(),
  /**
   * `delivered`, `status`, or why there was no usable response: `timeout`, `too_large`, `address_refused`, an error's
   * code.
   */
  outcome: z.string(),
  http_status: z.optional(z.int()),
  answer_bytes: z.optional(z.int()),
  /**
   * Some headers of the response of a failed attempt, and how its body begins (next-step.ts). A delivered webhook has
   * none, so its item takes two write units.
   */
  response_headers: z.optional(z.partialRecord(z.enum(KEPT_RESPONSE_HEADERS), z.string())),
  response_body: z.optional(z.string()),
  duration_ms: z.int(),
}));
export type DeliveryAttempt = z.infer<typeof attemptSchema>;

export const hasAnswer = ({ response_headers, response_body }: DeliveryAttempt): boolean =>
  (response_headers ?? response_body) !== undefined;

/** An attempt without what the endpoint answered, which is a text of its app and may name a person. */
export const withoutAnswer = ({ response_headers: _headers, response_body: _body, ...attempt }: DeliveryAttempt) =>
  attempt;

const progress = {
  pk: z.string(),
  list_key: z.string(),
  account_id: z.string(),
  endpoint: z.string(),
  repeat: z.optional(z.string()),
  webhook_id: z.string(),
  state: deliveryState,
  attempts: z.array(attemptSchema),
  /** Absent before the first attempt. */
  next_attempt_at: z.optional(z.iso.datetime()),
  /** Only on a parked delivery: its place in the list of its endpoint's parked deliveries. */
  open: z.optional(z.string()),
  listed_at: z.optional(z.iso.datetime()),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
};

/**
 * The item in the ledger table of one event and one endpoint, with the attempts. `list_key` lists an account's deliveries by time. A parked
 * delivery is pending and may have no message in the queue: `requeue-deliveries` puts one there when it is due.
 */
export const deliverySchema = z.union([
  replaceableObject(() => ({ ...transactionEvent.shape, ...progress })),
  replaceableObject(() => ({ ...accountEvent.shape, ...progress })),
]);
export type Delivery = z.infer<typeof deliverySchema>;

/** The key of the record of a message's delivery. */
export const recordPk = (message: DeliveryMessage): string =>
  message.event === TRANSACTION_UPDATED
    ? deliveryPk(message)
    : accountEventDeliveryPk({ ...message, webhook_id: accountEventId(message) });

/** A delivery before its first attempt. */
export const newDelivery = (
  { probe: _probe, early: _early, ...event }: DeliveryMessage,
  { accountId, webhookId }: { readonly accountId: string; readonly webhookId: string },
  nowMs: number,
): Delivery => ({
  ...event,
  pk: recordPk(event),
  list_key: deliveriesList(accountId),
  account_id: accountId,
  webhook_id: webhookId,
  state: "pending",
  attempts: [],
  created_at: isoTime(nowMs),
  updated_at: isoTime(nowMs),
});

/** The message that puts a stored delivery into the queue: when it is due, as a probe, or at once. */
export const messageOf = (delivery: Delivery, kind: "due" | "probe" | "early"): DeliveryMessage => {
  const copy = {
    endpoint: delivery.endpoint,
    repeat: delivery.repeat,
    ...(kind === "probe" && { probe: true as const }),
    ...(kind === "early" && { early: delivery.attempts.length }),
  };
  if (delivery.event === TRANSACTION_UPDATED) {
    const { event, transaction_pk, status } = delivery;
    return { event, transaction_pk, status, ...copy };
  }
  const { event, account_id, occurrence, body } = delivery;
  return { event, account_id, occurrence, body, ...copy };
};

export const readDelivery = (ledger: Ledger, pk: string): Promise<Delivery | undefined> =>
  getItem(ledger, pk, deliverySchema);

/** The change after an attempt, or instead of one. */
export type Progress = {
  readonly state: DeliveryState;
  /** Those before and the new one. */
  readonly attempts?: DeliveryAttempt[];
  readonly nextAttemptAt?: string | undefined;
  readonly parked?: boolean;
};

/**
 * Records an attempt's result, or that the delivery is parked. Each attempt number is written once: of two copies of a
 * message that are handled concurrently, the second write has no effect. Resolves with the stored delivery.
 */
export const recordProgress = async (ledger: Ledger, delivery: Delivery, progress: Progress): Promise<Delivery> => {
  const { next_attempt_at: _previous, open: _open, listed_at: _listedAt, ...rest } = delivery;
  const updated: Delivery = {
    ...rest,
    state: progress.state,
    attempts: progress.attempts ?? delivery.attempts,
    next_attempt_at: progress.nextAttemptAt,
    ...(progress.parked && { open: parkedDeliveries(endpointOf(delivery)), listed_at: delivery.created_at }),
    updated_at: isoTime(ledger.clock()),
  };
  const isRecorded = await putIf(ledger, updated, {
    ConditionExpression: "attribute_not_exists(pk) OR (#state = :pending AND size(attempts) = :attempts)",
    ExpressionAttributeNames: { "#state": "state" },
    ExpressionAttributeValues: { ":pending": "pending", ":attempts": delivery.attempts.length },
  });
  if (isRecorded) return updated;
  const stored = await readDelivery(ledger, updated.pk);
  if (stored === undefined) throw new Error("The record of a delivery is gone");
  return stored;
};
