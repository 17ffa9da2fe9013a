import type { Settlement } from "../ledger/settle-transaction.ts";
import { type Failure, referenceOf, type Transaction } from "../ledger/transaction.ts";
import { logOutcome } from "../orders/log-outcome.ts";
import type { Fulfilment, Quote, Wait } from "../orders/order.ts";
import { settlementFactsOf } from "../orders/settlement-facts.ts";
import type { Deadline } from "../platform/deadline.ts";
import {
  type Beginning,
  ORDER_LIMITED,
  type Outcome,
  RATE_LIMITED,
  TURN_OVER,
  type Upstream,
  type UpstreamOrder,
} from "../upstream/upstream.ts";
import type { OrderGate } from "./order-gate.ts";

/** A quote, with the order in the upstream's terms. */
export type OrderQuote = Quote & { readonly order: UpstreamOrder };

/** Why an order waits that was to be sent. */
export type WaitReason = typeof RATE_LIMITED | typeof ORDER_LIMITED | typeof TURN_OVER;

/** How an order is sent, and what happens if the upstream's rate limit refuses it. */
export type Sending = {
  readonly upstream: Pick<Upstream, "buy" | "blocks" | "learnBlocks">;
  readonly gate: Pick<OrderGate, "blocks" | "noteBlocks" | "noteOutcome">;
  /**
   * How the order waits, for this reason. Absent if it does not wait, undefined if it does not any more: it is
   * refunded.
   */
  readonly wait?: ((reason: WaitReason) => Wait | undefined) | undefined;
  readonly beginning?: Beginning;
};

/** Sends a debited order upstream. Resolves with what its outcome does to the ledger. */
export const fulfilPurchase = async (
  { upstream, gate, wait, beginning }: Sending,
  order: UpstreamOrder,
  transaction: Transaction,
  deadline: Deadline,
): Promise<Fulfilment> => {
  const before = gate.blocks();
  upstream.learnBlocks(before);
  const outcome = await upstream.buy(order, referenceOf(transaction), deadline, beginning);
  logOutcome(transaction, outcome);
  // Before anything that takes time: the sender holds the account's later orders from then on.
  const again = outcome.kind === "account_error" && isWaitReason(outcome.reason) ? wait?.(outcome.reason) : undefined;
  if (transaction.mode === "live") await gate.noteOutcome(outcome, deadline);
  if (wait !== undefined) await gate.noteBlocks(upstream.blocks(), before, deadline);
  if (again !== undefined) return { wait: again };
  const settlement = settlementFor(outcome);
  if (outcome.kind !== "unknown") return settlement ? { settlement } : {};
  return { ...(settlement && { settlement }), ...(outcome.later && { later: laterSettlement(outcome.later) }) };
};

const isWaitReason = (reason: string): reason is WaitReason =>
  reason === RATE_LIMITED || reason === ORDER_LIMITED || reason === TURN_OVER;

/** Undefined if there is nothing new to persist. */
const settlementFor = (outcome: Outcome): Settlement | undefined => {
  const facts = settlementFactsOf(outcome);
  switch (outcome.kind) {
    case "delivered":
      return { status: "success", ...facts };
    case "unknown":
      return outcome.upstreamReference === undefined ? undefined : { status: "processing", ...facts };
    case "account_error":
      return { status: "failed", failure: { code: "delivery_failed" }, ...facts };
    case "refused":
      return { status: "failed", failure: refusal(outcome.fields), ...facts };
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
