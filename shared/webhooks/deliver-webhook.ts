import { requireAccount } from "../access/account-store.ts";
import type { MessageResult } from "../lambda/queue-handler.ts";
import { readTransaction } from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { deliveryPk } from "../ledger/schema.ts";
import { referenceOf } from "../ledger/transaction.ts";
import { log } from "../platform/log.ts";
import { isoTime } from "../platform/time.ts";
import {
  type Attempt,
  type Delivery,
  type DeliveryState,
  newDelivery,
  readDelivery,
  recordProgress,
} from "./delivery.ts";
import type { DeliveryMessage } from "./delivery-queue.ts";
import { type Endpoint, type EndpointStore, noteHealth, readEndpoint } from "./endpoint.ts";
import { decideNextStep, type NextStep, type PostResult } from "./next-step.ts";
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
 * Tells one end of one transaction to its account's endpoint: one attempt, and what becomes of it on record. The record is written
 * after the post, so that a crash in between repeats the attempt and loses none.
 */
export const deliverWebhook =
  ({ ledger, endpoints, post, random }: DeliveryDeps) =>
  async (message: DeliveryMessage): Promise<MessageResult> => {
    const transaction = await readTransaction(ledger, message.transaction);
    if (transaction === undefined || transaction.status !== message.status)
      return { kind: "retry", reason: "no_such_end" };
    const [account, known] = await Promise.all([
      requireAccount(endpoints.accounts, transaction.account_id),
      readDelivery(ledger, deliveryPk(message)),
    ]);
    const id = webhookId(referenceOf(transaction), message.status);
    const delivery = known ?? newDelivery(message, transaction, id, ledger.clock());
    if (delivery.state !== "pending") return { kind: "done", outcome: `already_${delivery.state}` };

    const endpoint = await readEndpoint(endpoints, account);
    const obstacle = obstacleOf(endpoint);
    if (endpoint?.url === undefined || obstacle !== undefined) {
      return resultOf(await recordProgress(ledger, delivery, { state: obstacle ?? "no_endpoint" }), ledger);
    }
    // It came back early: its visibility could not be changed, or a restart made it visible.
    if (delivery.next_attempt_at !== undefined && ledger.clock() < Date.parse(delivery.next_attempt_at)) {
      return resultOf(delivery, ledger);
    }

    const atMs = ledger.clock();
    const body = webhookBody(transaction, message.status);
    const headers = {
      "content-type": "application/json",
      "user-agent": "airtime-data-identity-webhooks/1",
      ...signatureHeaders({ id, atMs, body, secrets: endpoint.secrets }),
    };
    const result = await post({ url: endpoint.url, headers, body });
    const nowMs = ledger.clock();
    const settlement = decideNextStep(result, {
      attempt: delivery.attempts.length + 1,
      failingSinceMs: endpoint.failingSince === undefined ? undefined : Date.parse(endpoint.failingSince),
      nowMs,
      random: random(),
    });
    const attempt = attemptOf(delivery, result, atMs, nowMs);
    const standing = await recordProgress(ledger, delivery, {
      state: stateAfter[settlement.kind],
      attempt,
      ...(settlement.kind === "retry" && { nextAttemptAt: isoTime(nowMs + settlement.afterS * 1_000) }),
    });
    log.info("webhook.attempted", {
      account: account.account_id,
      webhook_id: id,
      ...attempt,
      settlement: settlement.kind,
    });
    await noteVerdict(endpoints, delivery, endpoint.url, endpoint, settlement, atMs);
    return resultOf(standing, ledger);
  };

const stateAfter = {
  delivered: "delivered",
  retry: "pending",
  exhausted: "exhausted",
  switch_off: "switched_off",
} as const satisfies Record<NextStep["kind"], DeliveryState>;

/** Why there is nothing to post to. */
const obstacleOf = (endpoint: Endpoint | undefined): DeliveryState | undefined => {
  if (endpoint?.url === undefined) return "no_endpoint";
  return endpoint.status === "off" ? "switched_off" : undefined;
};

const attemptOf = (delivery: Delivery, result: PostResult, atMs: number, nowMs: number): Attempt => {
  const isTaken = result.kind === "answered" && result.status >= 200 && result.status <= 299;
  return {
    number: delivery.attempts.length + 1,
    at: isoTime(atMs),
    outcome: result.kind === "failed" ? result.reason : isTaken ? "delivered" : "status",
    ...(result.status !== undefined && { http_status: result.status }),
    ...(result.kind === "answered" && { answer_bytes: result.bytes }),
    duration_ms: Math.max(0, Math.round(nowMs - atMs)),
  };
};

/** An endpoint's failures stay out of the dead letters: they are put off here, and end in the record. */
const resultOf = ({ state, next_attempt_at }: Delivery, { clock }: Ledger): MessageResult => {
  if (state !== "pending" || next_attempt_at === undefined) return { kind: "done", outcome: state };
  return { kind: "retry", reason: "not_taken", afterS: Math.max(1, (Date.parse(next_attempt_at) - clock()) / 1_000) };
};

/** Keeps on the account since when its endpoint fails, and switches it off where that was the verdict. */
const noteVerdict = async (
  endpoints: EndpointStore,
  { account_id }: Delivery,
  url: string,
  { failingSince }: Endpoint,
  settlement: NextStep,
  atMs: number,
): Promise<void> => {
  if (settlement.kind === "delivered") {
    if (failingSince !== undefined) await noteHealth(endpoints, account_id, url, { failingSince: undefined });
    return;
  }
  const health = { failingSince: failingSince ?? isoTime(atMs) };
  if (settlement.kind === "switch_off") {
    log.alarm("webhook.switched_off", { account: account_id, reason: settlement.reason });
    await noteHealth(endpoints, account_id, url, { ...health, switchOff: true });
  } else if (failingSince === undefined) {
    await noteHealth(endpoints, account_id, url, health);
  }
  if (settlement.kind === "exhausted") log.warn("webhook.exhausted", { account: account_id });
};
