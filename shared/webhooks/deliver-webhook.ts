import { requireAccount } from "../access/account-store.ts";
import type { MessageResult } from "../lambda/queue-handler.ts";
import { readTransaction } from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { deliveryPk } from "../ledger/schema.ts";
import { referenceOf } from "../ledger/transaction.ts";
import { log } from "../platform/log.ts";
import { isoTime } from "../platform/time.ts";
import {
  type Delivery,
  type DeliveryAttempt,
  type DeliveryState,
  newDelivery,
  readDelivery,
  recordProgress,
} from "./delivery.ts";
import type { DeliveryMessage } from "./delivery-queue.ts";
import { type Endpoint, type EndpointStore, readEndpoint, recordEndpointHealth } from "./endpoint.ts";
import { decideNextStep, isDelivered, type NextStep, type PostResult } from "./next-step.ts";
import type { Post } from "./post-webhook.ts";
import { signatureHeaders, webhookId } from "./signature.ts";
import { webhookBody } from "./webhook-body.ts";

export type DeliveryDeps = {
  readonly ledger: Ledger;
  readonly endpoints: EndpointStore;
  readonly post: Post;
  /** From 0 up to 1. */
  readonly random: () => number;
};

/**
 * Makes one attempt to deliver a webhook and records it. The record is written after the post: a crash in between
 * repeats the attempt and loses none.
 */
export const deliverWebhook =
  ({ ledger, endpoints, post, random }: DeliveryDeps) =>
  async (message: DeliveryMessage): Promise<MessageResult> => {
    const transaction = await readTransaction(ledger, message.transaction);
    if (transaction === undefined || transaction.status !== message.status) {
      return { kind: "retry", reason: "no_such_settlement" };
    }
    const [account, stored] = await Promise.all([
      requireAccount(endpoints.accounts, transaction.account_id),
      readDelivery(ledger, deliveryPk(message)),
    ]);
    const id = webhookId(referenceOf(transaction), message.status);
    const delivery = stored ?? newDelivery(message, transaction, id, ledger.clock());
    if (delivery.state !== "pending") return { kind: "done", outcome: `already_${delivery.state}` };

    const endpoint = await readEndpoint(endpoints, account);
    if (endpoint?.url === undefined || endpoint.status === "off") {
      const state = endpoint?.url === undefined ? "no_endpoint" : "switched_off";
      return resultOf(await recordProgress(ledger, delivery, { state }), ledger);
    }
    // Too early: the message's visibility timeout could not be changed, or the queue was restarted.
    if (delivery.next_attempt_at !== undefined && ledger.clock() < Date.parse(delivery.next_attempt_at)) {
      return resultOf(delivery, ledger);
    }

    const startedAtMs = ledger.clock();
    const body = webhookBody(transaction, message.status);
    const headers = {
      "content-type": "application/json",
      "user-agent": "airtime-data-identity-webhooks/1",
      ...signatureHeaders({ id, atMs: startedAtMs, body, secrets: endpoint.secrets }),
    };
    const result = await post({ url: endpoint.url, headers, body });
    const nowMs = ledger.clock();
    const nextStep = decideNextStep(result, {
      attempt: delivery.attempts.length + 1,
      failingSinceMs: endpoint.failingSince === undefined ? undefined : Date.parse(endpoint.failingSince),
      nowMs,
      random: random(),
    });
    const attempt = attemptOf(delivery, result, startedAtMs, nowMs);
    const recorded = await recordProgress(ledger, delivery, {
      state: stateAfter[nextStep.kind],
      attempt,
      ...(nextStep.kind === "retry" && { nextAttemptAt: isoTime(nowMs + nextStep.afterS * 1_000) }),
    });
    log.info("webhook.attempted", {
      account: account.account_id,
      webhook_id: id,
      ...attempt,
      next_step: nextStep.kind,
    });
    await updateEndpointHealth(endpoints, delivery, endpoint.url, endpoint, nextStep, startedAtMs);
    return resultOf(recorded, ledger);
  };

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
  ...(result.status !== undefined && { http_status: result.status }),
  ...(result.kind === "answered" && { answer_bytes: result.bytes }),
  duration_ms: Math.max(0, Math.round(nowMs - startedAtMs)),
});

/** A failing endpoint causes no dead letters: its messages are postponed until the delivery's state is final. */
const resultOf = ({ state, next_attempt_at }: Delivery, { clock }: Ledger): MessageResult => {
  if (state !== "pending" || next_attempt_at === undefined) return { kind: "done", outcome: state };
  const afterS = Math.max(1, (Date.parse(next_attempt_at) - clock()) / 1_000);
  return { kind: "retry", reason: "attempt_failed", afterS };
};

/** Records on the account since when its endpoint fails, and switches the endpoint off if that is the next step. */
const updateEndpointHealth = async (
  endpoints: EndpointStore,
  { account_id }: Delivery,
  url: string,
  { failingSince }: Endpoint,
  nextStep: NextStep,
  startedAtMs: number,
): Promise<void> => {
  if (nextStep.kind === "delivered") {
    if (failingSince !== undefined) await recordEndpointHealth(endpoints, account_id, url, { failingSince: undefined });
    return;
  }
  const health = { failingSince: failingSince ?? isoTime(startedAtMs) };
  if (nextStep.kind === "switch_off") {
    log.alarm("webhook.switched_off", { account: account_id, reason: nextStep.reason });
    await recordEndpointHealth(endpoints, account_id, url, { ...health, switchOff: true });
  } else if (failingSince === undefined) {
    await recordEndpointHealth(endpoints, account_id, url, health);
  }
  if (nextStep.kind === "exhausted") log.warn("webhook.exhausted", { account: account_id });
};
