import type { Ledger } from "../ledger/ledger.ts";
import { NOT_DELIVERED } from "../ledger/settle-transaction.ts";
import type { OrderToSend, Transaction } from "../ledger/transaction.ts";
import type { FinalisedOrder, OrderDeps } from "../orders/order.ts";
import type { EnqueueMessage } from "../orders/outcome-message.ts";
import { finaliseOrder } from "../orders/place-order.ts";
import type { Deadline } from "../platform/deadline.ts";
import { type EnqueueTarget, enqueueOrder } from "./queue-store.ts";

/** How an order is queued. */
export type QueueEntry = { readonly order: OrderToSend } & Pick<EnqueueTarget, "refusals" | "claimed">;

/** Only an order that is `queued` has an estimate: a `deferred` one may be overtaken before. */
export type Enqueued =
  /** `ahead`: how many orders of the account are sent before it, if that is known. */
  | { readonly kind: "queued"; readonly ahead?: number | undefined }
  /** The outcomes queue will queue it. */
  | { readonly kind: "deferred" }
  | { readonly kind: "not_queued"; readonly placed: FinalisedOrder };

/** Queues an order that was certainly not carried out, now or by the outcomes queue. */
export const enqueueOrDefer = async (
  deps: Pick<OrderDeps, "ledger" | "outcomeQueue">,
  transaction: Transaction,
  { order, refusals, claimed }: QueueEntry,
  deadline: Deadline,
): Promise<Enqueued> => {
  const target = { ...transaction, refusals, claimed };
  const result = await enqueueOrder(deps.ledger, target, order, deadline);
  switch (result.kind) {
    case "queued":
      return { kind: "queued", ahead: result.ahead };
    case "not_open":
      return { kind: "not_queued", placed: { transaction: result.transaction, replayed: false } };
    case "overtaken":
      // It was not sent, and is refunded rather than sent after a later one of its account.
      return {
        kind: "not_queued",
        placed: await finaliseOrder(deps, transaction, { settlement: NOT_DELIVERED }, deadline),
      };
    case "missing":
    case "indeterminate":
      await deps.outcomeQueue.send(enqueueMessageOf(deps.ledger, target, order), 0, deadline);
      return { kind: "deferred" };
  }
};

export const enqueueMessageOf = (
  { table }: Pick<Ledger, "table">,
  { pk, mode, write_token, account_id, claim, refusals, claimed }: EnqueueTarget,
  order: OrderToSend,
): EnqueueMessage => ({
  kind: "wait",
  mode,
  transaction_pk: pk,
  write_token,
  account_id,
  claim,
  table,
  refusals,
  claimed,
  order,
});
