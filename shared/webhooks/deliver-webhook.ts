import { requireAccount } from "../access/account-store.ts";
import { FAULT_RETRY_S, type MessageResult } from "../call/message-result.ts";
import { TRANSACTION_UPDATED } from "../contract/webhook-events.ts";
import { readTransaction } from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { isErased } from "../ledger/masked-transaction.ts";
import { endpointOf } from "../ledger/schema.ts";
import { referenceOf } from "../ledger/transaction.ts";
import { log } from "../platform/log.ts";
import { EPOCH, isoTime } from "../platform/time.ts";
import {
  type Delivery,
  type DeliveryAttempt,
  type DeliveryState,
  hasAnswer,
  newDelivery,
  readDelivery,
  recordPk,
  recordProgress,
  withoutAnswer,
} from "./delivery.ts";
import { type DeliveryMessage, UNKNOWN_ENDPOINT } from "./delivery-queue.ts";
import { type Endpoint, type EndpointStore, openEndpoint } from "./endpoint.ts";
import { isDown, readEndpointHealth, recordEndpointHealth, withEvent } from "./endpoint-health.ts";
import { decideNextStep, FAILING_MS_MAX, type NextStep, probeIntervalMs, QUEUE_WAIT_MS_MAX } from "./next-step.ts";
import { scheduleRequeue } from "./parked-endpoint.ts";
import { isDelivered, type PostResult } from "./post-result.ts";
import type { Post } from "./post-webhook.ts";
import { signedHeaders, webhookId } from "./signature.ts";
import { isBodyOf, webhookBody } from "./webhook-body.ts";
import { accountEventId } from "./webhook-event.ts";

export type DeliveryDeps = {
  readonly ledger: Ledger;
  readonly endpoints: EndpointStore;
  readonly post: Post;
  /** From 0 up to 1. */
  readonly random: () => number;
};

/**
 * Makes one attempt to deliver a webhook, if it is due. It is parked instead of waiting in the queue if its wait is
 * long, or if its endpoint is down and the message is no probe.
 */
export const deliverWebhook =
  (deps: DeliveryDeps) =>
  async (message: DeliveryMessage): Promise<MessageResult> => {
    const { ledger, endpoints } = deps;
    const webhook = await webhookOf(ledger, message);
    if (webhook === undefined) return { kind: "retry", reason: "no_such_event", afterS: FAULT_RETRY_S };
    if (message.endpoint === UNKNOWN_ENDPOINT) {
      return { kind: "retry", reason: "account_was_unreadable", afterS: FAULT_RETRY_S };
    }
    const key = { accountId: webhook.accountId, endpoint: message.endpoint };
    const [account, health, stored] = await Promise.all([
      requireAccount(endpoints.accounts, webhook.accountId),
      readEndpointHealth(ledger, key),
      readDelivery(ledger, recordPk(message)),
    ]);
    const delivery = stored ?? newDelivery(message, webhook, ledger.clock());
    if (delivery.state !== "pending") return { kind: "done", outcome: `already_${delivery.state}` };

    const endpoint = await openEndpoint(endpoints, account, message.endpoint, health);
    if (endpoint === undefined || endpoint.status === "off") {
      const state = endpoint === undefined ? "removed" : "switched_off";
      return resultOf(ledger, await recordProgress(ledger, delivery, { state }), endpoint?.failing);
    }
    const waitMs = message.early === delivery.attempts.length ? 0 : waitMsOf(delivery, ledger);
    const isEndpointDown = isDown(endpoint.failing?.events);
    // Too early: the message's visibility timeout could not be changed, or the queue was restarted.
    if (waitMs > 0 || (isEndpointDown && message.probe !== true)) {
      if (!isEndpointDown && !isLongWait(waitMs)) return postponed(waitMs);
      const parked = delivery.open === undefined ? await park(ledger, delivery) : delivery;
      return resultOf(ledger, parked, endpoint.failing);
    }
    return attemptDelivery(deps, { delivery, webhook, endpoint });
  };

type Webhook = {
  readonly accountId: string;
  readonly webhookId: string;
  readonly body: string;
  /** Absent for an event of an account. */
  readonly transactionPk?: string;
};

/**
 * What a message delivers, of which account; undefined if its transaction is not in the ledger with its status, or its body is
 * of another event: who may send to the queue must not have an order's end signed that the ledger does not have.
 */
const webhookOf = async (ledger: Ledger, message: DeliveryMessage): Promise<Webhook | undefined> => {
  if (message.event !== TRANSACTION_UPDATED) {
    const { account_id: accountId, body } = message;
    return isBodyOf(message.event, body) ? { accountId, webhookId: accountEventId(message), body } : undefined;
  }
  const transaction = await readTransaction(ledger, message.transaction_pk);
  if (transaction === undefined || transaction.status !== message.status) return undefined;
  return {
    accountId: transaction.account_id,
    webhookId: webhookId(referenceOf(transaction), message.status),
    body: webhookBody(transaction, message.status),
    transactionPk: transaction.pk,
  };
};

/**
 * The attempts as they may be stored: without what an endpoint answered, which may name the webhook's person, once what names
 * them was removed. That may happen while the endpoint answers.
 */
const storable = async (
  ledger: Ledger,
  { transactionPk }: Webhook,
  attempts: readonly DeliveryAttempt[],
): Promise<DeliveryAttempt[]> => {
  const transaction =
    transactionPk !== undefined && attempts.some(hasAnswer) ? await readTransaction(ledger, transactionPk) : undefined;
  return transaction !== undefined && isErased(transaction) ? attempts.map(withoutAnswer) : [...attempts];
};

/** What an attempt posts, and to which endpoint. */
type DueDelivery = {
  readonly delivery: Delivery;
  readonly webhook: Webhook;
  readonly endpoint: Endpoint;
};

/**
 * Posts a webhook and records the attempt. The record is written after the post: a crash in between repeats the attempt
 * and loses none.
 */
const attemptDelivery = async (
  { ledger, post, random }: DeliveryDeps,
  { delivery, webhook, endpoint }: DueDelivery,
): Promise<MessageResult> => {
  const { account_id, webhook_id: id } = delivery;
  const { body } = webhook;
  const startedAtMs = ledger.clock();
  const headers = signedHeaders({ id, atMs: startedAtMs, body, secrets: endpoint.secrets });
  const result = await post({ url: endpoint.url, headers, body });
  const nowMs = ledger.clock();
  const before = await failuresBefore(ledger, delivery, endpoint, nowMs);
  const nextStep = decideNextStep(result, {
    attempt: delivery.attempts.length + 1,
    failingSinceMs: before && Date.parse(before.since),
    nowMs,
    random: random(),
  });
  const attempt = attemptOf(delivery, result, startedAtMs, nowMs);
  const after = failuresAfter(before, nextStep, id, startedAtMs);
  const recorded = await recordProgress(ledger, delivery, {
    state: stateAfter[nextStep.kind],
    attempts: await storable(ledger, webhook, [...delivery.attempts, attempt]),
    ...(nextStep.kind === "retry" && {
      nextAttemptAt: isoTime(nowMs + nextStep.afterS * 1_000),
      parked: isDown(after?.events) || isLongWait(nextStep.afterS * 1_000),
    }),
  });
  log.info("webhook.attempted", {
    account: account_id,
    endpoint: endpoint.id,
    webhook_id: id,
    ...withoutAnswer(attempt),
    next_step: nextStep.kind,
  });
  await updateEndpointHealth(ledger, delivery, { ...endpoint, failing: before }, after, { nextStep, startedAtMs });
  // The endpoint has recovered: what is parked follows in the next minute.
  if (isDown(endpoint.failing?.events) && nextStep.kind === "delivered") {
    await scheduleRequeue(ledger, endpointOf(delivery), ledger.clock());
  }
  return resultOf(ledger, recorded, after);
};

/** Until the next attempt may be made; zero or less if it is due. */
const waitMsOf = ({ next_attempt_at = EPOCH }: Delivery, { clock }: Ledger): number =>
  Date.parse(next_attempt_at) - clock();

const isLongWait = (waitMs: number): boolean => waitMs > QUEUE_WAIT_MS_MAX;

const park = (ledger: Ledger, delivery: Delivery): Promise<Delivery> =>
  recordProgress(ledger, delivery, { state: "pending", parked: true, nextAttemptAt: delivery.next_attempt_at });

const stateAfter = {
  delivered: "delivered",
  retry: "pending",
  exhausted: "exhausted",
  switch_off: "switched_off",
} as const satisfies Record<NextStep["kind"], DeliveryState>;

const attemptOf = (delivery: Delivery, result: PostResult, startedAtMs: number, nowMs: number): DeliveryAttempt => ({
  number: delivery.attempts.length + 1,
  at: isoTime(startedAtMs),
  outcome: result.kind === "failed" ? result.reason : isDelivered(result) ? "delivered" : "status",
  http_status: result.status,
  ...(result.kind === "answered" && { answer_bytes: result.bytes, response_body: result.body }),
  ...(!isDelivered(result) && { response_headers: result.headers }),
  // The clock may be set back.
  duration_ms: Math.max(0, nowMs - startedAtMs),
});

/**
 * A failing endpoint causes no dead letters: its messages are postponed, or deleted once the delivery is parked and its
 * requeue is scheduled.
 */
const resultOf = async (ledger: Ledger, delivery: Delivery, failing: Failures): Promise<MessageResult> => {
  const { state, open } = delivery;
  if (state !== "pending") return { kind: "done", outcome: state };
  const waitMs = waitMsOf(delivery, ledger);
  if (open === undefined) return postponed(waitMs);
  const nowMs = ledger.clock();
  const isProbed = failing !== undefined && isDown(failing.events);
  const requeueInMs = isProbed ? probeIntervalMs(Date.parse(failing.since), nowMs) : Math.max(0, waitMs);
  await scheduleRequeue(ledger, endpointOf(delivery), nowMs + requeueInMs);
  return { kind: "done", outcome: "parked" };
};

const postponed = (waitMs: number): MessageResult => ({
  kind: "retry",
  reason: "attempt_failed",
  afterS: Math.max(1, waitMs / 1_000),
});

/** How an endpoint has failed since its last success. */
type Failures = Endpoint["failing"];

/**
 * How an endpoint had failed before an attempt. Failures that switch the endpoint off are read again after the post: a
 * webhook that was delivered beside it may have ended them.
 */
const failuresBefore = async (
  ledger: Ledger,
  delivery: Delivery,
  { failing }: Endpoint,
  nowMs: number,
): Promise<Failures> => {
  if (failing === undefined || nowMs - Date.parse(failing.since) < FAILING_MS_MAX) return failing;
  return (await readEndpointHealth(ledger, endpointOf(delivery)))?.failing;
};

const failuresAfter = (before: Failures, nextStep: NextStep, event: string, startedAtMs: number): Failures => {
  if (nextStep.kind === "delivered") return undefined;
  const { since, events } = before ?? { since: isoTime(startedAtMs), events: [] };
  return { since, events: withEvent(events, event) };
};

/** Records how an endpoint fails, and switches the endpoint off if that is the next step. */
const updateEndpointHealth = async (
  ledger: Ledger,
  delivery: Delivery,
  before: Endpoint,
  after: Failures,
  { nextStep, startedAtMs }: { readonly nextStep: NextStep; readonly startedAtMs: number },
): Promise<void> => {
  const { account_id: account, endpoint, webhook_id: event } = delivery;
  const about = { ...endpointOf(delivery), generation: before.generation };
  if (after === undefined) {
    if (before.failing !== undefined) await recordEndpointHealth(ledger, about, { kind: "working" });
    return;
  }
  // Not when the failures before began: a webhook that was delivered beside this one may have ended them.
  const since = isoTime(startedAtMs);
  if (nextStep.kind === "switch_off") {
    log.alarm("webhook.switched_off", { account, endpoint, reason: nextStep.reason });
    await recordEndpointHealth(ledger, about, { kind: "failing", since, event, switchOff: true });
  } else if (after.events !== before.failing?.events) {
    const recorded = await recordEndpointHealth(ledger, about, { kind: "failing", since, event });
    // Of attempts that fail side by side only the write knows which one makes the endpoint one that is down.
    if (isDown(recorded?.failing?.events)) log.warn("webhook.endpoint_down", { account, endpoint });
  }
  if (nextStep.kind === "exhausted") log.warn("webhook.exhausted", { account, endpoint });
};
