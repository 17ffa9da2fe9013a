import type { Ledger } from "../ledger/ledger.ts";
import {
  type Failure,
  isFinalStatus,
  type QueuedOrder,
  referenceOf,
  waitsInAnotherLedger,
} from "../ledger/transaction.ts";
import { walletQueueGap } from "../ledger/wallet.ts";
import { deadlineWithin } from "../platform/deadline.ts";
import { log } from "../platform/log.ts";
import { CLAIM_MS_MAX, REFUND_MS_MAX } from "../platform/time-budgets.ts";
import { type InLane, leaveLane } from "./lane.ts";
import { claimOrder } from "./queue-store.ts";
import type { Run, TurnResult } from "./sender-run.ts";

export const waitedS = ({ clock }: Ledger, since: string): number => Math.floor((clock() - Date.parse(since)) / 1_000);

const isExpired = ({ deps: { ledger, queueMinutes } }: Run, { created_at }: QueuedOrder): boolean =>
  waitedS(ledger, created_at) > queueMinutes * 60;

/** The stage has got another upstream since the debit. */
const isForAnotherUpstream = ({ deps: { upstream } }: Run, { queued: { order } }: QueuedOrder): boolean =>
  order.upstream !== undefined && order.upstream !== upstream.baseUrl;

/** Whether an order is ended without being sent: it waited for too long, in another ledger, or for another upstream. */
export const isDue = (run: Run, order: QueuedOrder): boolean =>
  isExpired(run, order) || waitsInAnotherLedger(run.deps.ledger, order) || isForAnotherUpstream(run, order);

/**
 * Whether the catalog has lost the order's plan since the debit, or has it under another network, where the id may be of
 * another bundle. A changed price is our cost, and raises its alarm.
 */
const isWithdrawn = ({ plans }: Run, { queued: { order } }: QueuedOrder): boolean =>
  order.kind === "data" && plans !== undefined && plans.plans.get(order.plan_id)?.network_id !== order.network_id;

/** Ends an order that is not to be sent; undefined of any other. */
export const endUnsent = async (run: Run, order: QueuedOrder, inLane?: InLane): Promise<TurnResult | undefined> => {
  if (waitsInAnotherLedger(run.deps.ledger, order)) return claimUnsent(run, order, inLane);
  const failure = failureOf(run, order, inLane);
  return failure && refund(run, order, failure, inLane);
};

/** Why an order is refunded; undefined if it is not. */
const failureOf = (run: Run, order: QueuedOrder, inLane: InLane | undefined): Failure | undefined => {
  if (isForAnotherUpstream(run, order)) return { code: "provider_unavailable", cause: "upstream_changed" };
  if (isExpired(run, order)) {
    // The upstream has refused this very order, whatever its limit was.
    if (inLane === undefined) return { code: "delivery_failed" };
    const fields = { reference: referenceOf(order), waited_s: waitedS(run.deps.ledger, order.created_at) };
    if (inLane.lane.wallet.restricted) log.warn("order.refunded_restricted", fields);
    else log.alarm("order.waited_too_long", fields);
    return { code: "provider_unavailable" };
  }
  return isWithdrawn(run, order) ? { code: "plan_unavailable", fields: ["plan_id"] } : undefined;
};

const refund = async (
  { deps: { ledger }, settle, deadline }: Run,
  order: QueuedOrder,
  failure: Failure,
  inLane: InLane | undefined,
): Promise<TurnResult> => {
  const inTime = deadlineWithin(deadline, REFUND_MS_MAX);
  const result = await settle(ledger, order, { status: "failed", failure }, inTime);
  const hasEnded =
    result.kind === "applied" || (result.kind === "already_settled" && isFinalStatus(result.transaction.status));
  if (inLane !== undefined) leaveLane(inLane, hasEnded);
  if (result.kind === "indeterminate") return "not_written";
  return result.kind === "applied" ? "refunded" : "unchanged";
};

/**
 * Ends the wait of an order that may have been sent since the copy was made: it is neither sent nor refunded, and never
 * made to wait again, because it would wait in this ledger then. Without a claim the next run tries again.
 */
const claimUnsent = async (
  { deps: { ledger }, deadline }: Run,
  order: QueuedOrder,
  inLane: InLane | undefined,
): Promise<TurnResult> => {
  const others = inLane === undefined ? [] : [walletQueueGap(ledger, order.account_id, inLane.number)];
  const { kind } = await claimOrder(ledger, order, others, deadlineWithin(deadline, CLAIM_MS_MAX));
  if (kind !== "not_claimed") log.alarm("order.not_sent_after_restore", { reference: referenceOf(order) });
  if (inLane !== undefined) leaveLane(inLane, kind === "claimed");
  return kind === "indeterminate" ? "not_written" : "unchanged";
};
