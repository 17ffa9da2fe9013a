import type { Mode } from "../contract/transaction.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { OrderToSend, QueuedOrder } from "../ledger/transaction.ts";
import type { QueuePolicy } from "../orders/order.ts";
import type { Upstream, UpstreamOrder } from "../upstream/upstream.ts";
import type { OrderGate } from "./order-gate.ts";
import { queueUntilMs } from "./upstream-pace.ts";

export type QueueDeps = {
  readonly ledger: Pick<Ledger, "clock">;
  readonly gate: Pick<OrderGate, "pace">;
  /** Longest time that an order is queued; 0 if no order is. */
  readonly queueMinutes: number;
};

/**
 * Age at which a queued order needs attention: half of its time is over. Orders that are sent by the next runs of the
 * sender are younger.
 */
export const attentionAgeS = (queueMinutes: number): number => Math.max(5 * 60, queueMinutes * 30);

/** Whether purchases may be queued: never in test mode, which does not reach the upstream. */
export const mayBeQueued = ({ queueMinutes }: Pick<QueueDeps, "queueMinutes">, mode: Mode): boolean =>
  mode === "live" && queueMinutes > 0;

/** When a purchase is queued now: in any case while the limit is known to be spent, or other orders are queued. */
export const queuePolicy = (deps: QueueDeps, upstream: Pick<Upstream, "waitS">, mode: Mode): QueuePolicy => {
  if (!mayBeQueued(deps, mode)) return "never";
  const nowMs = deps.ledger.clock();
  return upstream.waitS("vtu") > 0 || nowMs < queueUntilMs(deps.gate.pace(), nowMs) ? "always" : "behind_others";
};

export const orderToSendOf = (order: UpstreamOrder, { baseUrl: upstream }: Pick<Upstream, "baseUrl">): OrderToSend =>
  order.kind === "data"
    ? { kind: "data", network_id: order.networkId, plan_id: order.planId, upstream }
    : { kind: "airtime", network: order.network, upstream };

/** The order in the upstream's terms: the phone number and the face value are the transaction's. */
export const upstreamOrderOf = ({ queued: { order }, ...transaction }: QueuedOrder): UpstreamOrder => {
  const { phone_number: phoneNumber, amount_kobo, face_kobo: amountKobo = amount_kobo } = transaction;
  if (phoneNumber === undefined) throw new Error("A queued order has no phone number");
  return order.kind === "data"
    ? { kind: "data", networkId: order.network_id, planId: order.plan_id, phoneNumber }
    : { kind: "airtime", network: order.network, amountKobo, phoneNumber };
};
