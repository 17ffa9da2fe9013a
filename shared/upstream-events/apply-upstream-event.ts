import type { MessageResult } from "../call/message-result.ts";
import type { EventReason } from "../contract/event-reasons.ts";
import {
  findByOwnReference,
  findByUpstreamReference,
  type IndexedTransaction,
  readTransaction,
} from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { mayBeOfSendingBefore, type RecordedSettlement, settleByHeuristicMatch } from "../ledger/settle-transaction.ts";
import { alertIfAmountDiffers } from "../ledger/settlement-alerts.ts";
import { inFlightMs, isFinalStatus, isIdentityCheck, type Transaction } from "../ledger/transaction.ts";
import { isExpectedAmount } from "../ledger/upstream-costs.ts";
import {
  contraryEvent,
  noteEvent,
  readUpstreamReference,
  type UpstreamReference,
} from "../ledger/upstream-reference.ts";
import type { EventMessage } from "../orders/outcome-message.ts";
import type { Deadline } from "../platform/deadline.ts";
import { alarmed, escalate, escalateIfContradicted, readIfKnown } from "./escalate.ts";
import { hasValidMac } from "./event-mac.ts";
import { findHeuristicMatch } from "./heuristic-match.ts";
import { type ApplyDeps, retryOf, type SettleDeps, settlementOf } from "./message-settlement.ts";
import { changeReason, recordEvent, storedEventPk } from "./stored-event.ts";

/**
 * Applies an event by the upstream's reference or by ours. An unknown reference is retried, then matched heuristically.
 */
export const applyUpstreamEvent = async (
  deps: SettleDeps,
  event: EventMessage,
  deadline: Deadline,
): Promise<MessageResult> => {
  const { reference } = event;
  const settlement = settlementOf(deps, event, "event");
  const [indexed, ...others] = await findByUpstreamReference(deps.ledger, reference);
  if (others.length > 0) return escalate(deps, event, "several_candidates");
  if (indexed !== undefined) return settleByReference(deps, indexed, event, settlement, deadline);
  const ageMs = deps.ledger.clock() - Date.parse(event.received_at);
  const transaction = await findByOwnReference(deps.ledger, reference);
  if (transaction !== undefined) {
    if (event.status === "success" && isOpenCheck(transaction)) {
      return { kind: "retry", reason: "check_open", afterS: retryDelayS(ageMs) ?? OPEN_CHECK_RETRY_S };
    }
    // An event under our own reference does not say what the upstream calls the order: a known upstream reference
    // stays.
    return settleByOwnReference(deps, transaction, event, { ...settlement, upstream_reference: undefined }, deadline);
  }
  const afterS = retryDelayS(ageMs);
  const retry = afterS === undefined ? undefined : ({ kind: "retry", reason: "reference_unknown", afterS } as const);
  if (retry !== undefined && event.status === "success") return retry;
  // A failure is noted at once: from then on no success under its reference is matched.
  const known = retry
    ? await noteEvent(deps.ledger, reference, event.status, storedEventPk(event))
    : await readUpstreamReference(deps.ledger, reference);
  const matched = await matchedTransaction(deps.ledger, known);
  if (matched !== undefined) return settleByReference(deps, matched, event, settlement, deadline);
  if (retry !== undefined) return retry;
  const isContested = known !== undefined && contraryEvent(known, event.status) !== undefined;
  return isContested ? escalateUnknown(deps, event, "conflicting_events") : matchOrEscalate(deps, event, deadline);
};

/**
 * A check is charged for its result, which only its own request can return: a `success` waits until that has ended it, or
 * `reconcile-ledger` has refunded it. An open one has no upstream reference, so it is found by ours alone.
 */
const isOpenCheck = (transaction: Transaction): boolean =>
  isIdentityCheck(transaction) && transaction.mode === "live" && !isFinalStatus(transaction.status);

/** The transaction to which the reference was matched. */
const matchedTransaction = (ledger: Ledger, known: UpstreamReference | undefined): Promise<Transaction | undefined> =>
  readIfKnown(ledger, known?.transaction_pk);

/** A failure that may be of a sending before the last one waits for the outcome of that one, and is then for a person. */
const settleByOwnReference = async (
  deps: SettleDeps,
  transaction: Transaction,
  event: EventMessage,
  settlement: RecordedSettlement,
  deadline: Deadline,
): Promise<MessageResult> => {
  const isAmbiguous = !isFinalStatus(transaction.status) && mayBeOfSendingBefore(transaction, settlement);
  if (!isAmbiguous || !hasValidMac(await deps.keyedHashes(), event)) {
    return settleByReference(deps, transaction, event, settlement, deadline);
  }
  const retry = retryAfterFlight(deps, transaction);
  if (retry.afterS > 0) return retry;
  await checkAmount(deps, transaction, event);
  return escalate(deps, event, "sent_again", transaction.pk, transaction.claim);
};

const retryAfterFlight = ({ ledger }: ApplyDeps, transaction: Transaction) => ({
  kind: "retry" as const,
  reason: "order_in_flight",
  afterS: Math.ceil(inFlightMs(transaction, ledger.clock()) / 1_000),
});

const settleByReference = async (
  deps: SettleDeps,
  transaction: IndexedTransaction & Pick<Transaction, "claim">,
  event: EventMessage,
  settlement: RecordedSettlement,
  deadline: Deadline,
): Promise<MessageResult> => {
  const { pk, mode, status } = transaction;
  if (mode !== event.mode) return escalate(deps, event, "no_candidate");
  await checkAmount(deps, transaction, event);
  if (isFinalStatus(status)) return escalateIfContradicted(deps, pk, status, event);
  if (event.status === "failed" && !hasValidMac(await deps.keyedHashes(), event)) {
    return escalate(deps, event, "unauthenticated", pk, transaction.claim);
  }
  const result = await deps.settle(deps.ledger, transaction, settlement, deadline);
  if (result.kind === "indeterminate") return retryOf(result);
  if (result.kind === "applied") return { kind: "done", outcome: "applied" };
  const { transaction: stored } = result;
  if (!isFinalStatus(stored.status) && mayBeOfSendingBefore(stored, settlement)) return retryAfterFlight(deps, stored);
  return escalateIfContradicted(deps, pk, stored.status, event);
};

/**
 * Runs first, because the upstream's charge is our cost whatever the order's status is. An amount that is on record
 * already raised its alert when it was recorded.
 */
const checkAmount = async (
  { ledger, costs }: ApplyDeps,
  indexed: IndexedTransaction,
  { amount_kobo }: EventMessage,
): Promise<void> => {
  if (amount_kobo === undefined || isExpectedAmount(costs, indexed, amount_kobo)) return;
  const transaction = await readTransaction(ledger, indexed.pk);
  if (transaction === undefined || transaction.upstream_amount_kobo === amount_kobo) return;
  alertIfAmountDiffers(costs, transaction, amount_kobo);
};

/** Settles the transaction that fits an event whose reference is unknown, or escalates the event. */
const matchOrEscalate = async (deps: SettleDeps, event: EventMessage, deadline: Deadline): Promise<MessageResult> => {
  const { ledger } = deps;
  const settlement = settlementOf(deps, event, "event");
  const match = await findHeuristicMatch(deps, event);
  if (match.kind === "none") {
    // A copy of the event may have been matched since the reference was read, and have taken the candidate.
    const matched = await matchedTransaction(ledger, await readUpstreamReference(ledger, event.reference));
    return matched === undefined
      ? escalateUnknown(deps, event, match.reason)
      : settleByReference(deps, matched, event, settlement, deadline);
  }
  // The event's own transaction may have recorded the reference since the first lookup, and so no longer be a
  // candidate.
  const isKnown = (await findByUpstreamReference(ledger, event.reference)).length > 0;
  const { transaction } = match;
  if (!isKnown && (await settleByHeuristicMatch(ledger, transaction, settlement, deadline))) {
    return { kind: "done", outcome: "matched" };
  }
  return { kind: "retry", reason: "candidate_changed", afterS: 1 };
};

/**
 * Escalates an event with an unknown reference. It is stored before it is noted, so that of two events that contradict
 * each other the second one finds the first and gives both the same reason. A failure that was noted at its arrival, and is
 * not stored yet, is noted again once it is: then it is the second one.
 */
const escalateUnknown = async (
  { ledger }: ApplyDeps,
  event: EventMessage,
  reason: EventReason,
): Promise<MessageResult> => {
  const { reference, status } = event;
  const pk = storedEventPk(event);
  const isOpen = await recordEvent(ledger, event, reason);
  const known = await noteEvent(ledger, reference, status, pk);
  if (known.transaction_pk !== undefined && status === "failed") {
    // The success under its reference was matched since the reference was read.
    await changeReason(ledger, pk, "contradiction", known.transaction_pk);
    return alarmed(isOpen, event, "contradiction", await matchedTransaction(ledger, known));
  }
  const contrary = contraryEvent(known, status);
  if (contrary === undefined) return alarmed(isOpen, event, reason);
  for (const each of [pk, contrary]) await changeReason(ledger, each, "conflicting_events");
  return alarmed(isOpen, event, "conflicting_events");
};

/**
 * From this age on an event with an unknown reference is matched or escalated. AWS states no limit for the lag of an
 * index: one of minutes hides the event's own order, and another one that looks the same would be the only candidate.
 */
export const DECISION_AGE_MS = 360_000;
/**
 * The ages at which an unknown reference is looked up again: the write that records it may still be in flight, or not
 * yet in the index.
 */
const RETRY_AGES_MS = [5_000, 30_000, 180_000, DECISION_AGE_MS];
/** After them, should an abandoned check still be open: the runs that refund it are this far apart. */
const OPEN_CHECK_RETRY_S = 60;

/** Seconds until the next retry, or undefined after the last one. */
const retryDelayS = (ageMs: number): number | undefined => {
  const nextAgeMs = RETRY_AGES_MS.find((retryAgeMs) => retryAgeMs > ageMs);
  return nextAgeMs === undefined ? undefined : Math.ceil((nextAgeMs - ageMs) / 1_000);
};
