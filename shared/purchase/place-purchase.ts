import type { CatalogMemory } from "../catalog/catalog-memory.ts";
import type { ServiceError } from "../contract/errors.ts";
import type { Mode } from "../contract/transaction.ts";
import type { Transaction } from "../ledger/transaction.ts";
import type { FinalisedOrder, OrderDeps, OrderRequest, PlacedOrder, QueuePolicy } from "../orders/order.ts";
import { finaliseOrder, openOrder, outcomeNotRecorded, prepareOrder } from "../orders/place-order.ts";
import type { Deadline } from "../platform/deadline.ts";
import { enqueueOrDefer, type QueueEntry } from "../queued-orders/enqueue-or-defer.ts";
import type { OrderGate } from "../queued-orders/order-gate.ts";
import { estimateS, orderToSendOf, queuePolicy } from "../queued-orders/queue-policy.ts";
import {
  fulfilmentOf,
  noteSent,
  type OrderQuote,
  queueReasonOf,
  sendPurchase,
} from "../queued-orders/send-purchase.ts";
import { ORDER_LIMITED, type Upstream, type UpstreamOrder } from "../upstream/upstream.ts";

export type PurchaseDeps = OrderDeps & {
  readonly gate: OrderGate;
  readonly queueMinutes: number;
  readonly catalog: CatalogMemory;
  readonly upstreams: Readonly<Record<Mode, Upstream>>;
};

/** Debits a purchase that is priced, and sends it upstream or queues it. */
export const placePurchase = async (
  deps: PurchaseDeps,
  request: Omit<OrderRequest, "entitlement">,
  quote: OrderQuote | ServiceError,
  deadline: Deadline,
): Promise<PlacedOrder> => {
  const prepared = await prepareOrder(deps, { ...request, entitlement: "vtu" }, quote);
  if (prepared.kind === "placed") return prepared.placed;
  const {
    transaction,
    quote: { order },
  } = prepared;
  const queue = queuePolicy(deps, deps.upstreams[transaction.mode], transaction.mode);
  const opened = await openOrder(deps, prepared, { queue }, deadline);
  if (opened.kind === "placed") return opened.placed;
  try {
    if (opened.mustQueue) return await enqueuePurchase(deps, transaction, { order: orderToSendOf(order) }, deadline);
    return await sendOrEnqueue(deps, transaction, order, queue, deadline);
  } catch (error) {
    return outcomeNotRecorded(transaction, error);
  }
};

/** Sends a purchase upstream, and settles it; or queues it, if the upstream's rate limit refuses it. */
const sendOrEnqueue = async (
  deps: PurchaseDeps,
  transaction: Transaction,
  order: UpstreamOrder,
  queue: QueuePolicy,
  deadline: Deadline,
): Promise<FinalisedOrder> => {
  const { mode } = transaction;
  const mayBeQueued = queue !== "never";
  const sending = { upstream: deps.upstreams[mode], gate: deps.gate };
  const sent = await sendPurchase(sending, order, transaction, deadline);
  await noteSent(sending, sent, { mode, mayBeQueued }, deadline);
  const reason = mayBeQueued ? queueReasonOf(sent.outcome) : undefined;
  if (reason === undefined) return finaliseOrder(deps, transaction, fulfilmentOf(sent.outcome), deadline);
  const entry = { order: orderToSendOf(order), ...(reason === ORDER_LIMITED && { refusals: 1 }) };
  return enqueuePurchase(deps, transaction, entry, deadline);
};

const enqueuePurchase = async (
  deps: PurchaseDeps,
  transaction: Transaction,
  entry: QueueEntry,
  deadline: Deadline,
): Promise<FinalisedOrder> => {
  const enqueued = await enqueueOrDefer(deps, transaction, entry, deadline);
  if (enqueued.kind === "not_queued") return enqueued.placed;
  const hasEstimate = enqueued.kind === "queued" && entry.refusals === undefined;
  return {
    transaction,
    replayed: false,
    isOutcomeSecured: true,
    ...(hasEstimate && { estimatedS: estimateS(deps, deps.upstreams[transaction.mode], enqueued.ahead ?? 0) }),
  };
};
