import type { Mode } from "../contract/transaction.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { OrderToSend } from "../ledger/transaction.ts";
import type { WaitingOrder } from "../ledger/waiting-order.ts";
import type { OrderRequest, Waiting } from "../orders/order.ts";
import type { Deadline } from "../platform/deadline.ts";
import { ORDER_LIMITED, type Upstream, type UpstreamOrder } from "../upstream/upstream.ts";
import type { OrderGate } from "./order-gate.ts";
import { fulfilPurchase, type OrderQuote, type Sending } from "./send-purchase.ts";
import { estimatedDeliveryS, waitUntilMs } from "./upstream-pace.ts";

export type WaitingDeps = {
  readonly ledger: Pick<Ledger, "clock">;
  readonly gate: OrderGate;
  /** Longest wait of an order; 0 if orders do not wait. */
  readonly waitingMinutes: number;
};

/**
 * How a purchase waits for the upstream's limit; undefined if it does not: in test mode, which never reaches the
 * upstream, and where the stage says that no order waits.
 */
export const purchaseWaiting = (
  deps: WaitingDeps,
  upstream: Pick<Upstream, "waitS">,
  mode: Mode,
): Waiting<OrderQuote> | undefined => {
  if (mode === "test" || deps.waitingMinutes === 0) return undefined;
  const estimateS = (ahead: number): number =>
    estimatedDeliveryS(deps.gate.pace(), { nowMs: deps.ledger.clock(), limitS: upstream.waitS("vtu"), ahead });
  return {
    isNeeded: () => {
      const nowMs = deps.ledger.clock();
      return upstream.waitS("vtu") > 0 || nowMs < waitUntilMs(deps.gate.pace(), nowMs);
    },
    wait: ({ order }, reason) => ({
      order: orderToSendOf(order),
      ...(reason === ORDER_LIMITED ? { refusals: 1 } : { estimateS }),
    }),
  };
};

const orderToSendOf = (order: UpstreamOrder): OrderToSend =>
  order.kind === "data"
    ? { kind: "data", network_id: order.networkId, plan_id: order.planId }
    : { kind: "airtime", network: order.network };

/** The order in the upstream's terms: the phone number and the amount are the transaction's. */
export const upstreamOrderOf = ({ waiting: { order }, ...transaction }: WaitingOrder): UpstreamOrder => {
  const { phone_number: phoneNumber, amount_kobo: amountKobo } = transaction;
  if (phoneNumber === undefined) throw new Error("A waiting order has no phone number");
  return order.kind === "data"
    ? { kind: "data", networkId: order.network_id, planId: order.plan_id, phoneNumber }
    : { kind: "airtime", network: order.network, amountKobo, phoneNumber };
};

/** The callbacks of an order that send a purchase at once, or make it wait. */
export const purchaseCallbacks = (
  { gate }: WaitingDeps,
  upstream: Sending["upstream"],
  waiting: Waiting<OrderQuote> | undefined,
  deadline: Deadline,
): Pick<OrderRequest<OrderQuote>, "fulfil" | "waiting"> => ({
  fulfil: (transaction, quote) =>
    fulfilPurchase(
      { upstream, gate, wait: waiting && ((reason) => waiting.wait(quote, reason)) },
      quote.order,
      transaction,
      deadline,
    ),
  ...(waiting && { waiting }),
});
