import type { Settlement } from "../ledger/settle-transaction.ts";
import { type Failure, referenceOf, type Transaction } from "../ledger/transaction.ts";
import type { UpstreamCosts } from "../ledger/upstream-costs.ts";
import { logOutcome } from "../orders/log-outcome.ts";
import type { Fulfilment, Quote } from "../orders/order.ts";
import { withUpstreamFacts } from "../orders/settlement-facts.ts";
import type { Deadline } from "../platform/deadline.ts";
import {
  type Beginning,
  ORDER_LIMITED,
  type Outcome,
  RATE_LIMITED,
  TURN_OVER,
  type Upstream,
  type UpstreamBlocks,
  type UpstreamOrder,
} from "../upstream/upstream.ts";
import type { OrderGate } from "./order-gate.ts";

export type OrderQuote = Quote & { readonly order: UpstreamOrder };

type Sending = {
  readonly upstream: Pick<Upstream, "buy" | "blocks" | "learnBlocks">;
  readonly gate: Pick<OrderGate, "blocks" | "noteBlocks" | "noteOutcome">;
  readonly costs: UpstreamCosts;
};

export type SentPurchase = { readonly outcome: Outcome; readonly blocksBefore: UpstreamBlocks };

/** Sends a debited order upstream, once. `noteSent` follows. */
export const sendPurchase = async (
  { upstream, gate, costs }: Sending,
  order: UpstreamOrder,
  transaction: Transaction,
  deadline: Deadline,
  beginning?: Beginning,
): Promise<SentPurchase> => {
  const blocksBefore = gate.blocks();
  upstream.learnBlocks(blocksBefore);
  const outcome = await upstream.buy(order, referenceOf(transaction), deadline, beginning);
  logOutcome(transaction, outcome, costs);
  return { outcome, blocksBefore };
};

/** Tells operators and the other instances what a sent order shows. Never rejects. */
export const noteSent = async (
  { upstream, gate }: Omit<Sending, "costs">,
  { outcome, blocksBefore }: SentPurchase,
  { mode, mayBeQueued }: Pick<Transaction, "mode"> & { readonly mayBeQueued: boolean },
  deadline: Deadline,
): Promise<void> => {
  if (mode === "live") await gate.noteOutcome(outcome, deadline);
  if (mayBeQueued) await gate.noteBlocks(upstream.blocks(), blocksBefore, deadline);
};

/** Why an order is queued that was to be sent. */
export type QueueReason = typeof RATE_LIMITED | typeof ORDER_LIMITED | typeof TURN_OVER;

/** Undefined if the order has an outcome. */
export const queueReasonOf = (outcome: Outcome): QueueReason | undefined =>
  outcome.kind === "account_error" && isQueueReason(outcome.reason) ? outcome.reason : undefined;

const isQueueReason = (reason: string): reason is QueueReason =>
  reason === RATE_LIMITED || reason === ORDER_LIMITED || reason === TURN_OVER;

/** What the outcome of an order does to the ledger. */
export const fulfilmentOf = (outcome: Outcome, costs: UpstreamCosts): Fulfilment => {
  const decided = settlementFor(outcome);
  const settlement = decided && withUpstreamFacts(decided, outcome, costs);
  if (outcome.kind !== "unknown") return settlement ? { settlement } : {};
  return { ...(settlement && { settlement }), ...(outcome.later && { later: laterSettlement(outcome.later) }) };
};

/** Undefined if there is nothing new to persist. */
const settlementFor = (outcome: Outcome): Settlement | undefined => {
  switch (outcome.kind) {
    case "delivered":
      return { status: "success" };
    case "unknown":
      return outcome.upstreamReference === undefined ? undefined : { status: "processing" };
    case "account_error":
      return { status: "failed", failure: { code: "delivery_failed" } };
    case "refused":
      return { status: "failed", failure: refusal(outcome.fields) };
  }
};

const refusal = (fields: readonly string[]): Failure => {
  if (fields.length === 0) return { code: "delivery_failed" };
  return { code: fields.includes("plan_id") ? "plan_unavailable" : "validation_failed", fields: [...fields] };
};

const laterSettlement = ({
  status,
  afterS,
  waits,
}: NonNullable<Extract<Outcome, { kind: "unknown" }>["later"]>): NonNullable<Fulfilment["later"]> => ({
  afterS,
  settlement: status === "success" ? { status } : { status, failure: { code: "delivery_failed" } },
  ...(waits && { estimatedS: afterS }),
});
