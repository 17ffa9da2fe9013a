import type { CatalogMemory } from "../catalog/catalog-memory.ts";
import type { PlanIndex } from "../catalog/plan-index.ts";
import type { Ledger, Table } from "../ledger/ledger.ts";
import type { settleAsRead } from "../ledger/settle-transaction.ts";
import {
  type Failure,
  isFinalStatus,
  type QueuedOrder,
  referenceOf,
  waitsInAnotherLedger,
} from "../ledger/transaction.ts";
import type { UpstreamCosts } from "../ledger/upstream-costs.ts";
import { walletNotRestricted, walletQueueGap } from "../ledger/wallet.ts";
import type { OutcomeQueue } from "../orders/outcome-queue.ts";
import { finaliseOrder, outcomeNotRecorded } from "../orders/place-order.ts";
import { type Deadline, deadlineWithin } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import { isoTime, sleep } from "../platform/time.ts";
import {
  CLAIM_MS_MAX,
  CLAIMED_ORDER_MS_MAX,
  CLOCK_DIFFERENCE_MS_MAX,
  REFUND_MS_MAX,
  TURN_BEGIN_MS_MAX,
} from "../platform/time-budgets.ts";
import type { HttpUpstream } from "../upstream/http-upstream.ts";
import { type Beginning, ORDER_LIMITED, TURN_OVER, type UpstreamOrder } from "../upstream/upstream.ts";
import { enqueueMessageOf, enqueueOrDefer, type QueueEntry } from "./enqueue-or-defer.ts";
import { endInLane, type Lane } from "./lane.ts";
import type { OrderGate } from "./order-gate.ts";
import { afterClaim, withFront } from "./order-queue.ts";
import { upstreamOrderOf } from "./queue-policy.ts";
import { type ClaimedOrder, claimOrder, type EnqueueTarget } from "./queue-store.ts";
import { fulfilmentOf, noteSent, queueReasonOf, type SentPurchase, sendPurchase } from "./send-purchase.ts";
import { walletQueueClaim } from "./wallet-queue.ts";

/** How much longer a turn lasts whose order the upstream's limit refuses again. */
const REFUSED_TURN_MS = 1_000;
/** Delay of the message that queues an order again whose claim got no answer: most faults have passed after it. */
const UNSENT_CLAIM_DELAY_S = 15;
/** How often an order is retried that the upstream refuses because of the order itself; once per run. */
export const REFUSED_ORDER_RETRIES_MAX = 3;

export type SenderDeps = {
  readonly ledger: Ledger;
  readonly cache: Table;
  readonly outcomeQueue: OutcomeQueue;
  readonly gate: OrderGate;
  readonly catalog: CatalogMemory;
  readonly upstream: HttpUpstream;
  readonly costs: UpstreamCosts;
  readonly queueMinutes: number;
};

/** One run of the sender of queued orders. */
export type Run = {
  readonly deps: SenderDeps;
  readonly deadline: Deadline;
  /** Until when a turn may begin. */
  readonly lastTurn: Deadline;
  readonly plans: PlanIndex | undefined;
  /** Does not settle an order that was claimed since it was read: it may be on its way upstream. */
  readonly settle: typeof settleAsRead;
  /** Accounts of which no further order is ended in this run: a write that ends one got no answer, and took long. */
  readonly notWritten: Set<string>;
};

export type TurnResult =
  | "sent"
  | "refunded"
  | "unchanged"
  /** The write that ends the order got no conclusive answer. */
  | "not_written";

export const waitedS = ({ clock }: Ledger, since: string): number => Math.floor((clock() - Date.parse(since)) / 1_000);

/** Where an order of a queue is; absent for one that was set aside. */
export type InLane = {
  readonly lane: Lane;
  readonly number: number;
  /** Called when its request begins: then the account's next order may be claimed. */
  readonly begun?: () => void;
};

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

/** Ends an order that is not to be sent, or else sends it. A fault with one order does not delay other accounts. */
export const takeTurn = async (run: Run, order: QueuedOrder, inLane?: InLane): Promise<TurnResult> => {
  try {
    if (waitsInAnotherLedger(run.deps.ledger, order)) return await claimUnsent(run, order, inLane);
    const failure = failureOf(run, order, inLane);
    if (failure !== undefined) return await refund(run, order, failure, inLane);
    return inLane === undefined ? await claimAndSendAgain(run, order) : await claimAndSend(run, inLane, order);
  } catch (error) {
    if (inLane !== undefined) holdLane(inLane);
    log.alarm("order.sender_failed", { reference: referenceOf(order), ...errorFields(error) });
    return "not_written";
  }
};

const holdLane = ({ lane, number }: InLane): void => {
  lane.isHeld = true;
  lane.orders.delete(number);
};

/** Why an order is refunded; undefined if it is not. */
const failureOf = (run: Run, order: QueuedOrder, inLane: InLane | undefined): Failure | undefined => {
  if (isForAnotherUpstream(run, order)) return { code: "provider_unavailable" };
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

const leaveLane = (inLane: InLane, hasEnded: boolean): void =>
  hasEnded ? endInLane(inLane.lane, inLane.number) : holdLane(inLane);

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

/**
 * How long the request of an order may begin that is claimed from now on. Neither a clock that is set back nor one that
 * stood still prolongs it.
 */
const openTurn = ({ clock }: Ledger) => {
  const [wallMs, monotonicMs] = [clock(), performance.now()];
  return {
    /** For other processes, whose clocks may be ahead. */
    turnUntil: isoTime(wallMs + TURN_BEGIN_MS_MAX + CLOCK_DIFFERENCE_MS_MAX),
    mayBegin: (): boolean => Math.max(clock() - wallMs, performance.now() - monotonicMs) < TURN_BEGIN_MS_MAX,
  };
};

/** Claims an order of a queue and sends it, if it is still the account's first one. */
const claimAndSend = async (run: Run, inLane: InLane, order: QueuedOrder): Promise<TurnResult> => {
  const { lane, number } = inLane;
  const { ledger } = run.deps;
  const upstreamOrder = upstreamOrderOf(order);
  const { turnUntil, mayBegin } = openTurn(ledger);
  const deadline = orderDeadline(run);
  const queue = { before: lane.queue, after: afterClaim(lane.queue, number) };
  const wallet = walletQueueClaim(ledger, order.account_id, queue, turnUntil);
  const claim = await claimOrder(ledger, order, [wallet], deadlineWithin(deadline, CLAIM_MS_MAX));
  if (claim.kind === "not_claimed") {
    leaveLane(inLane, claim.transaction !== undefined && isFinalStatus(claim.transaction.status));
    return "unchanged";
  }
  if (claim.kind === "indeterminate") {
    holdLane(inLane);
    return enqueueAgain(
      run,
      order,
      { ...claim.claimed, claimed: { number, turnUntil, isIndeterminate: true } },
      deadline,
    );
  }
  lane.queue = queue.after;
  lane.turnUntil = turnUntil;
  lane.hasTurn = true;
  lane.orders.delete(number);
  try {
    return await sendInLane(run, inLane, order, claim.claimed, { upstreamOrder, turnUntil, mayBegin }, deadline);
  } catch (error) {
    outcomeNotRecorded(claim.claimed, error);
    return "sent";
  }
};

/** Sends a claimed order of a queue, and settles it or queues it again. */
const sendInLane = async (
  run: Run,
  { lane, number, begun = () => {} }: InLane,
  order: QueuedOrder,
  claimed: ClaimedOrder,
  { upstreamOrder, turnUntil, mayBegin }: ReturnType<typeof openTurn> & { readonly upstreamOrder: UpstreamOrder },
  deadline: Deadline,
): Promise<TurnResult> => {
  const beginning = { mayBegin: () => !lane.isHeld && mayBegin(), begun };
  const sent = await sendPurchase(run.deps, upstreamOrder, claimed, deadline, beginning);
  const reason = queueReasonOf(sent.outcome);
  if (reason === undefined || reason === ORDER_LIMITED) {
    const entry = reason && setAsideEntry(order);
    return (await recordSent(run, claimed, sent, entry, deadline)) ? "unchanged" : "sent";
  }
  // Before anything that takes time: the next order may be claimed already.
  lane.isHeld = true;
  const isUnsent = reason === TURN_OVER;
  const entry = { order: order.queued.order, claimed: { number, ...(isUnsent && { turnUntil }) } };
  if (!(await recordSent(run, claimed, sent, entry, deadline))) return "sent";
  lane.queue = withFront(lane.queue, number);
  if (isUnsent) {
    // The turn ends by itself: until the order waits again, which the queue may write, it shows that no other was claimed.
    lane.hasTurn = false;
  } else {
    // The turn lasts longer: with `Retry-After: 0` the orders of all other accounts would be refused at once.
    await sleep(REFUSED_TURN_MS);
  }
  return "unchanged";
};

/** Records what the upstream said of a claimed order. True if the order is queued again, by this entry. */
const recordSent = async (
  { deps }: Run,
  claimed: ClaimedOrder,
  sent: SentPurchase,
  entry: QueueEntry | undefined,
  deadline: Deadline,
): Promise<boolean> => {
  await noteSent(deps, sent, { mode: claimed.mode, mayBeQueued: true }, deadline);
  if (entry !== undefined) return (await enqueueOrDefer(deps, claimed, entry, deadline)).kind !== "not_queued";
  await finaliseOrder(deps, claimed, fulfilmentOf(sent.outcome, deps.costs), deadline);
  return false;
};

/** How an order is set aside that the upstream refused by itself; undefined if it is given up. */
const setAsideEntry = ({ queued: { order, refusals = 0 } }: QueuedOrder): QueueEntry | undefined =>
  refusals < REFUSED_ORDER_RETRIES_MAX ? { order, refusals: refusals + 1 } : undefined;

/** From its claim on, an order has as long as a request. */
const orderDeadline = ({ deadline }: Run): Deadline => deadlineWithin(deadline, CLAIMED_ORDER_MS_MAX);

/** Has the outcomes queue make an order wait again that was not sent. */
const enqueueAgain = async (
  { deps: { ledger, outcomeQueue } }: Run,
  { queued }: QueuedOrder,
  target: EnqueueTarget,
  deadline: Deadline,
): Promise<"unchanged"> => {
  await outcomeQueue.send(enqueueMessageOf(ledger, target, queued.order), UNSENT_CLAIM_DELAY_S, deadline);
  return "unchanged";
};

/** Claims an order that was set aside, and sends it. Orders of the account that follow do not wait for it. */
const claimAndSendAgain = async (run: Run, order: QueuedOrder): Promise<TurnResult> => {
  const { ledger } = run.deps;
  const upstreamOrder = upstreamOrderOf(order);
  const { refusals } = order.queued;
  const deadline = orderDeadline(run);
  const wallet = walletNotRestricted(ledger, order.account_id);
  const claim = await claimOrder(ledger, order, [wallet], deadlineWithin(deadline, CLAIM_MS_MAX));
  if (claim.kind === "not_claimed") return "unchanged";
  if (claim.kind === "indeterminate") {
    return enqueueAgain(run, order, { ...claim.claimed, refusals, claimed: { isIndeterminate: true } }, deadline);
  }
  try {
    const sent = await sendPurchase(run.deps, upstreamOrder, claim.claimed, deadline, AT_ANY_TIME);
    const reason = queueReasonOf(sent.outcome);
    const again = reason === ORDER_LIMITED ? setAsideEntry(order) : { order: order.queued.order, refusals };
    const isQueued = await recordSent(run, claim.claimed, sent, reason && again, deadline);
    return isQueued ? "unchanged" : "sent";
  } catch (error) {
    outcomeNotRecorded(claim.claimed, error);
    return "sent";
  }
};

const AT_ANY_TIME: Beginning = { mayBegin: () => true, begun: () => {} };
