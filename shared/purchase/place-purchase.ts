import type { Call } from "../call/call.ts";
import type { CatalogMemory } from "../catalog/catalog-memory.ts";
import type { ServiceError } from "../contract/errors.ts";
import { headers } from "../contract/headers.ts";
import type { Mode } from "../contract/transaction.ts";
import type { DuplicateWindow } from "../ledger/duplicate-guard.ts";
import type { Transaction } from "../ledger/transaction.ts";
import type { FinalisedOrder, OrderDeps, OrderRequest, PlacedOrder, QueuePolicy } from "../orders/order.ts";
import {
  finaliseOrder,
  openOrder,
  outcomeNotRecorded,
  type PreparedOrder,
  prepareOrder,
} from "../orders/place-order.ts";
import { cachePk } from "../platform/cache-keys.ts";
import type { Deadline } from "../platform/deadline.ts";
import { enqueueOrDefer, type QueueEntry } from "../queued-orders/enqueue-or-defer.ts";
import type { OrderGate } from "../queued-orders/order-gate.ts";
import { orderToSendOf, queuePolicy } from "../queued-orders/queue-policy.ts";
import {
  fulfilmentOf,
  noteSent,
  type OrderQuote,
  queueReasonOf,
  sendPurchase,
} from "../queued-orders/send-purchase.ts";
import { estimatedDeliveryS } from "../queued-orders/upstream-pace.ts";
import { ORDER_LIMITED, type Upstream, type UpstreamOrder } from "../upstream/upstream.ts";

export type PurchaseDeps = OrderDeps & {
  readonly gate: OrderGate;
  readonly queueMinutes: number;
  readonly catalog: CatalogMemory;
  readonly cacheTable: string;
  readonly upstreams: Readonly<Record<Mode, Upstream>>;
};

/** What a purchase reads of its request beside the input. */
export type PurchaseCall = Pick<Call<unknown>, "caller" | "deadline"> & {
  readonly request: Pick<Call<unknown>["request"], "headers">;
};

/** Debits a purchase that is priced, and sends it upstream or queues it. */
export const placePurchase = async (
  deps: PurchaseDeps,
  request: Omit<OrderRequest, "entitlement">,
  quote: OrderQuote | ServiceError,
  { deadline, request: { headers: sent } }: PurchaseCall,
): Promise<PlacedOrder> => {
  const prepared = await prepareOrder(deps, { ...request, entitlement: "vtu" }, quote);
  if (prepared.kind === "placed") return prepared.placed;
  const { mode } = prepared.transaction;
  const { order } = prepared.quote;
  const queue = queuePolicy(deps, deps.upstreams[mode], mode);
  const duplicates = duplicateWindow(deps, prepared, sent[headers.confirmDuplicate]);
  const opened = await openOrder(deps, prepared, { queue, duplicates }, deadline);
  if (opened.kind === "placed") return opened.placed;
  const { transaction } = opened;
  try {
    if (opened.mustQueue) {
      const entry = { order: orderToSendOf(order, deps.upstreams[mode]) };
      return await enqueuePurchase(deps, transaction, entry, deadline);
    }
    return await sendOrEnqueue(deps, transaction, order, queue, deadline);
  } catch (error) {
    return outcomeNotRecorded(transaction, error);
  }
};

/** The window in which a live purchase like this one is refused, if the account has one. */
const duplicateWindow = (
  { cacheTable: table }: PurchaseDeps,
  { caller, transaction, keyedHashes, quote: { order } }: PreparedOrder<OrderQuote>,
  confirmation: string | undefined,
): DuplicateWindow | undefined => {
  const { accountId, mode, duplicateWindowS: windowS } = caller;
  if (windowS === undefined || mode !== "live") return undefined;
  const product = order.kind === "data" ? [String(order.networkId), String(order.planId)] : [order.network];
  const like = [accountId, order.kind, order.phoneNumber, ...product, String(transaction.amount_kobo)];
  return {
    ...{ table, windowS },
    pk: cachePk("duplicate", keyedHashes.purchaseHash(like)),
    isConfirmed: confirmation?.trim().toLowerCase() === "true",
  };
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
  const sending = { upstream: deps.upstreams[mode], gate: deps.gate, costs: deps.costs };
  const sent = await sendPurchase(sending, order, transaction, deadline);
  await noteSent(sending, sent, { mode, mayBeQueued }, deadline);
  const reason = mayBeQueued ? queueReasonOf(sent.outcome) : undefined;
  if (reason === undefined) return finaliseOrder(deps, transaction, fulfilmentOf(sent.outcome, deps.costs), deadline);
  const entry = { order: orderToSendOf(order, sending.upstream), ...(reason === ORDER_LIMITED && { refusals: 1 }) };
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
  const placed: FinalisedOrder = { transaction, replayed: false };
  if (enqueued.kind !== "queued" || entry.refusals !== undefined) return placed;
  const limitS = deps.upstreams[transaction.mode].waitS("vtu");
  const { ahead = 0 } = enqueued;
  return { ...placed, estimatedS: estimatedDeliveryS(deps.gate.pace(), { nowMs: deps.ledger.clock(), limitS, ahead }) };
};
