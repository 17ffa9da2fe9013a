import { FAULT_RETRY_S, type MessageResult } from "../call/message-result.ts";
import type { EventReason } from "../contract/event-reasons.ts";
import { loggableReference } from "../contract/mask-phones.ts";
import {
  findByOwnReference,
  findByUpstreamReference,
  type IndexedTransaction,
  readTransaction,
} from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { isErased, maskedNumber } from "../ledger/masked-transaction.ts";
import {
  createSequentialSettle,
  mayBeOfSendingBefore,
  NOT_DELIVERED,
  type RecordedSettlement,
  type Settlement,
  type SettlementResult,
  settleByAnswer,
  settleByHeuristicMatch,
  type settleTransaction,
} from "../ledger/settle-transaction.ts";
import { alertIfAmountDiffers, alertIfContradicted } from "../ledger/settlement-alerts.ts";
import type { IndeterminateWrite } from "../ledger/transact.ts";
import { isFinalStatus, isIdentityCheck, isQueuedOrder, referenceOf, type Transaction } from "../ledger/transaction.ts";
import { amountFacts, isExpectedAmount, type UpstreamCosts } from "../ledger/upstream-costs.ts";
import {
  contraryEvent,
  noteEvent,
  readUpstreamReference,
  type UpstreamReference,
} from "../ledger/upstream-reference.ts";
import { voidDebit } from "../ledger/void-debit.ts";
import type {
  AnswerMessage,
  EnqueueMessage,
  EventMessage,
  OutcomeMessage,
  SettlementMessage,
  UnreadableMessage,
  VoidMessage,
} from "../orders/outcome-message.ts";
import type { Deadline } from "../platform/deadline.ts";
import type { KeyedHashes } from "../platform/keyed-hashes.ts";
import { log } from "../platform/log.ts";
import { enqueueOrder } from "../queued-orders/queue-store.ts";
import { hasValidMac } from "./event-mac.ts";
import { findHeuristicMatch } from "./heuristic-match.ts";
import { inFlightMs } from "./operator-resolution.ts";
import {
  changeReason,
  type ReportedOrder,
  recordEvent,
  recordNotFound,
  recordUnreadable,
  type StoredEvent,
  storedEventPk,
} from "./stored-event.ts";

export type ApplyDeps = {
  readonly ledger: Ledger;
  readonly keyedHashes: () => Promise<KeyedHashes>;
  readonly costs: UpstreamCosts;
};
/**
 * The messages of a batch are applied concurrently, and several may refund one wallet: `settle` puts those in sequence.
 */
type SettleDeps = ApplyDeps & { readonly settle: typeof settleTransaction };

/**
 * Applies one message by one conditional write. A duplicate, or a settlement of a final transaction, changes nothing.
 */
export const applyOutcomeMessage = (deps: ApplyDeps) => {
  const settleDeps: SettleDeps = { ...deps, settle: createSequentialSettle() };
  return (message: OutcomeMessage, deadline: Deadline): Promise<MessageResult> => {
    switch (message.kind) {
      case "settlement":
        return applySettlement(settleDeps, message, deadline);
      case "void":
        return applyVoid(settleDeps, message, deadline);
      case "wait":
        return applyEnqueue(settleDeps, message, deadline);
      case "event":
        return applyEvent(settleDeps, message, deadline);
      case "unreadable_event":
        return escalateUnreadable(deps, message);
      case "answer":
        return applyAnswer(deps, message, deadline);
    }
  };
};

/** Applies a settlement that the service itself decided. */
const applySettlement = async (
  deps: SettleDeps,
  { transaction_pk: pk, settlement, ...target }: Omit<SettlementMessage, "kind">,
  deadline: Deadline,
): Promise<MessageResult> => {
  const stored = await readTransaction(deps.ledger, pk);
  // A restored ledger may lack it.
  if (stored === undefined) return { kind: "done", outcome: "no_such_transaction" };
  return settleStored(deps, stored, target, settlement, deadline);
};

/** Ends an indeterminate debit: voids it if it was not made, and refunds it if it was. */
const applyVoid = async (deps: SettleDeps, { item }: VoidMessage, deadline: Deadline): Promise<MessageResult> => {
  const result = await voidDebit(deps.ledger, item, deadline);
  if (result.kind === "indeterminate") return retryOf(result);
  if (result.kind === "void") return { kind: "done", outcome: "void" };
  return settleStored(deps, result.transaction, item, NOT_DELIVERED, deadline);
};

/**
 * Applies the upstream's answer to the question for an order. Its sender has compared it with the order; that its
 * reference belongs to no other order is certain only here, in the settling write.
 */
const applyAnswer = async (deps: ApplyDeps, message: AnswerMessage, deadline: Deadline): Promise<MessageResult> => {
  const { ledger } = deps;
  const stored = await readTransaction(ledger, message.transaction_pk);
  if (stored === undefined) return { kind: "done", outcome: "no_such_transaction" };
  const { pk, status } = stored;
  if (stored.write_token !== message.write_token || stored.mode !== message.mode) {
    return { kind: "done", outcome: "another_transaction" };
  }
  if (message.finding === "not_found") {
    if (isFinalStatus(status)) return { kind: "done", outcome: "duplicate" };
    // An order that waits is sent again, as one was that has another claim: this says nothing of that sending.
    if (isQueuedOrder(stored) || stored.claim !== message.claim) return { kind: "done", outcome: "another_sending" };
    const isOpen = await recordNotFound(ledger, pk, message.reference, message.claim);
    return alarmed(isOpen, message, "not_found", stored);
  }
  const { event } = message;
  if (message.finding === "another_order" || (await belongsToAnother(ledger, event.reference, pk))) {
    if (isFinalStatus(status)) return { kind: "done", outcome: "duplicate" };
    if (stored.claim !== message.claim) return { kind: "done", outcome: "another_sending" };
    return escalate(deps, event, "another_order", pk, message.claim);
  }
  const late = await lateAnswer(deps, stored, message.claim, event);
  if (late !== undefined) return late;
  const isOwn = event.reference === referenceOf(stored);
  const settlement = { ...settlementOf(deps, event, "lookup"), ...(isOwn && { upstream_reference: undefined }) };
  const isOfLastSending = event.reference === stored.upstream_reference;
  if (!isOfLastSending && mayBeOfSendingBefore(stored, settlement)) {
    return escalate(deps, event, "sent_again", pk, stored.claim);
  }
  const result = await settleByAnswer(ledger, stored, settlement, message, deadline);
  if (result.kind === "indeterminate") return retryOf(result);
  if (result.kind === "applied") return { kind: "done", outcome: "applied" };
  const current = (await readTransaction(ledger, pk)) ?? stored;
  return (
    (await lateAnswer(deps, current, message.claim, event)) ?? escalate(deps, event, "another_order", pk, message.claim)
  );
};

/**
 * The result of an answer that comes after its order ended or was sent again. It is about the sending before, and the next
 * question is about the new one.
 */
const lateAnswer = async (
  deps: ApplyDeps,
  { pk, status, claim }: Transaction,
  asked: Transaction["claim"],
  event: ReportedOrder,
): Promise<MessageResult | undefined> => {
  if (isFinalStatus(status)) return escalateIfContradicted(deps, pk, status, event);
  return claim === asked ? undefined : { kind: "done", outcome: "another_sending" };
};

/** Whether the upstream's reference is known as that of another transaction. The index lags. */
const belongsToAnother = async (ledger: Ledger, reference: string, pk: string): Promise<boolean> =>
  (await findByUpstreamReference(ledger, reference)).some((indexed) => indexed.pk !== pk);

const retryOf = ({ isFault = false }: IndeterminateWrite): MessageResult => ({
  ...{ kind: "retry", reason: "write_indeterminate" },
  ...(isFault && { afterS: FAULT_RETRY_S }),
});

/** Settles a stored transaction, if it is the one that the message is about. */
const settleStored = async (
  { ledger, settle }: SettleDeps,
  stored: Transaction,
  { write_token, mode }: Pick<Transaction, "write_token" | "mode">,
  settlement: Settlement,
  deadline: Deadline,
): Promise<MessageResult> => {
  if (stored.write_token !== write_token || stored.mode !== mode)
    return { kind: "done", outcome: "another_transaction" };
  const result: SettlementResult = isFinalStatus(stored.status)
    ? { kind: "already_settled", transaction: stored }
    : await settle(ledger, stored, settlement, deadline);
  if (result.kind === "indeterminate") return retryOf(result);
  if (result.kind === "applied") return { kind: "done", outcome: "applied" };
  const isContradicted = alertIfContradicted(result.transaction, settlement);
  return { kind: "done", outcome: isContradicted ? "contradiction" : "duplicate" };
};

/** Makes an order wait whose own request, or whose sender, could not write it. */
const applyEnqueue = async (
  deps: SettleDeps,
  { order, ...target }: EnqueueMessage,
  deadline: Deadline,
): Promise<MessageResult> => {
  const result = await enqueueOrder(deps.ledger, { pk: target.transaction_pk, ...target }, order, deadline);
  if (result.kind === "indeterminate") return retryOf(result);
  const { kind } = result;
  if (kind === "missing") return { kind: "done", outcome: "no_such_transaction" };
  if (kind === "overtaken") return applySettlement(deps, { ...target, settlement: NOT_DELIVERED }, deadline);
  return { kind: "done", outcome: kind === "queued" ? "applied" : "duplicate" };
};

/**
 * Applies an event by the upstream's reference or by ours. An unknown reference is retried, then matched heuristically.
 */
const applyEvent = async (deps: SettleDeps, event: EventMessage, deadline: Deadline): Promise<MessageResult> => {
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

const readIfKnown = async (ledger: Ledger, pk: string | undefined): Promise<Transaction | undefined> =>
  pk === undefined ? undefined : readTransaction(ledger, pk);

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

/** A final status does not change: an event that contradicts it goes to the operator. */
const escalateIfContradicted = async (
  deps: ApplyDeps,
  transactionPk: string,
  status: string,
  event: ReportedOrder,
): Promise<MessageResult> =>
  status === event.status
    ? { kind: "done", outcome: "duplicate" }
    : escalate(deps, event, "contradiction", transactionPk);

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

const settlementOf = (
  { costs }: ApplyDeps,
  { status, reference, amount_kobo }: ReportedOrder,
  reported_by: Transaction["reported_by"],
): RecordedSettlement => {
  const facts = { upstream_reference: reference, ...amountFacts(costs, status, amount_kobo), reported_by };
  return status === "success" ? { status, ...facts } : { status, failure: { code: "delivery_failed" }, ...facts };
};

/** Records an unreadable event with its transaction, where that is known: the event may contradict its final status. */
const escalateUnreadable = async ({ ledger }: ApplyDeps, message: UnreadableMessage): Promise<MessageResult> => {
  const { reference } = message;
  const transactionPk = reference === undefined ? undefined : (await findByAnyReference(ledger, reference))?.pk;
  const isOpen = await recordUnreadable(ledger, message, transactionPk);
  return alarmed(isOpen, message, "unreadable", await readIfKnown(ledger, transactionPk));
};

/** The one transaction with this upstream reference, or with this reference of ours. */
const findByAnyReference = async (ledger: Ledger, reference: string): Promise<IndexedTransaction | undefined> => {
  const [indexed, ...others] = await findByUpstreamReference(ledger, reference);
  if (others.length > 0) return undefined;
  return indexed ?? findByOwnReference(ledger, reference);
};

const escalate = async (
  { ledger }: ApplyDeps,
  event: ReportedOrder,
  reason: EventReason,
  transactionPk?: string,
  claim?: string,
): Promise<MessageResult> => {
  const transaction = await readIfKnown(ledger, transactionPk);
  const isOpen = await recordEvent(ledger, storable(event, transaction), reason, transactionPk, claim);
  return alarmed(isOpen, event, reason, transaction);
};

/** The event with its number masked, if what names the person of its transaction was removed. */
const storable = (event: ReportedOrder, transaction: Transaction | undefined): ReportedOrder =>
  event.phone === undefined || transaction === undefined || !isErased(transaction)
    ? event
    : { ...event, phone: { ...event.phone, masked: maskedNumber(event.phone.masked) } };

/**
 * Raises the alarm about a stored event that is open: with each copy, because the process of an earlier one may have died
 * before its alarm.
 */
const alarmed = (
  isOpen: boolean,
  { reference, problem }: { readonly reference?: string | undefined; readonly problem?: string },
  reason: StoredEvent["reason"],
  transaction?: Transaction,
): MessageResult => {
  if (isOpen) {
    log.alarm("upstream_event.escalated", {
      ...{ reason, problem, upstream_reference: loggableReference(reference) },
      ...(transaction && { transaction: referenceOf(transaction) }),
    });
  }
  return { kind: "done", outcome: reason };
};
