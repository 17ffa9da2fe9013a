import type { Ledger } from "../ledger/ledger.ts";
import { isFinalStatus, type QueuedOrder, referenceOf } from "../ledger/transaction.ts";
import { walletNotRestricted } from "../ledger/wallet.ts";
import { finaliseOrder, outcomeNotRecorded } from "../orders/place-order.ts";
import { type Deadline, deadlineWithin } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import { isoTime, sleep } from "../platform/time.ts";
import {
  CLAIM_MS_MAX,
  CLAIMED_ORDER_MS_MAX,
  CLOCK_DIFFERENCE_MS_MAX,
  TURN_BEGIN_MS_MAX,
} from "../platform/time-budgets.ts";
import { type Beginning, ORDER_LIMITED, TURN_OVER, type UpstreamOrder } from "../upstream/upstream.ts";
import { endUnsent } from "./end-unsent.ts";
import { enqueueMessageOf, enqueueOrDefer, type QueueEntry } from "./enqueue-or-defer.ts";
import { holdLane, type InLane, leaveLane } from "./lane.ts";
import { afterClaim, withFront } from "./order-queue.ts";
import { upstreamOrderOf } from "./queue-policy.ts";
import { type ClaimedOrder, claimOrder, type EnqueueTarget } from "./queue-store.ts";
import { fulfilmentOf, noteSent, queueReasonOf, type SentPurchase, sendPurchase } from "./send-purchase.ts";
import type { Run, TurnResult } from "./sender-run.ts";
import { walletQueueClaim } from "./wallet-queue.ts";

/** How much longer a turn lasts whose order the upstream's limit refuses again. */
const REFUSED_TURN_MS = 1_000;
/** Delay of the message that queues an order again whose claim got no answer: most faults have passed after it. */
const UNSENT_CLAIM_DELAY_S = 15;
/** How often an order is retried that the upstream refuses because of the order itself; once per run. */
export const REFUSED_ORDER_RETRIES_MAX = 3;

/** Ends an order that is not to be sent, or else sends it. A fault with one order does not delay other accounts. */
export const takeTurn = async (run: Run, order: QueuedOrder, inLane?: InLane): Promise<TurnResult> => {
  try {
    const ended = await endUnsent(run, order, inLane);
    if (ended !== undefined) return ended;
    return inLane === undefined ? await claimAndSendAgain(run, order) : await claimAndSend(run, inLane, order);
  } catch (error) {
    if (inLane !== undefined) holdLane(inLane);
    log.alarm("order.sender_failed", { reference: referenceOf(order), ...errorFields(error) });
    return "not_written";
  }
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
