import type { MessageResult } from "../lambda/queue-handler.ts";
import {
  findByOwnReference,
  findByUpstreamReference,
  type IndexedTransaction,
  openTransactions,
  readTransaction,
} from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  createSequentialSettle,
  type Settlement,
  type SettlementResult,
  settleByHeuristicMatch,
  type settleTransaction,
} from "../ledger/settle-transaction.ts";
import { alertIfAmountDiffers, alertIfContradicted } from "../ledger/settlement-alerts.ts";
import { isFinalStatus, referenceOf, type Transaction } from "../ledger/transaction.ts";
import type { EventMessage, OutcomeMessage, SettlementMessage, UnreadableMessage } from "../orders/outcome-queue.ts";
import type { Deadline } from "../platform/deadline.ts";
import type { KeyedHashes } from "../platform/keyed-hashes.ts";
import { log } from "../platform/log.ts";
import { hasOwnMac } from "./event-mac.ts";
import { type EventReason, recordEvent, recordUnreadable } from "./stored-event.ts";

export type ApplyDeps = { readonly ledger: Ledger; readonly keyedHashes: () => Promise<KeyedHashes> };
/** With what settles: a batch's messages are applied at once, and several may refund one wallet. */
type Applying = ApplyDeps & { readonly settle: typeof settleTransaction };

/** Applies one message by one conditional write. A duplicate, or a verdict on what has ended, changes nothing. */
export const applyOutcome = (deps: ApplyDeps) => {
  const applying: Applying = { ...deps, settle: createSequentialSettle() };
  return (message: OutcomeMessage, deadline: Deadline): Promise<MessageResult> => {
    switch (message.kind) {
      case "settlement":
        return applyVerdict(applying, message, deadline);
      case "event":
        return applyEvent(applying, message, deadline);
      case "unreadable_event":
        return keepUnreadable(deps, message);
    }
  };
};

/** Our own verdict on a transaction of ours. */
const applyVerdict = async (
  { ledger, settle }: Applying,
  message: SettlementMessage,
  deadline: Deadline,
): Promise<MessageResult> => {
  const transaction = await readTransaction(ledger, message.transaction);
  // Never written, or written by another request: the verdict speaks of something that does not exist.
  if (transaction === undefined || transaction.attempt !== message.attempt || transaction.mode !== message.mode) {
    return { kind: "done", outcome: "no_such_attempt" };
  }
  const result: SettlementResult = isFinalStatus(transaction.status)
    ? { kind: "already_settled", transaction }
    : await settle(ledger, transaction, message.settlement, deadline);
  if (result.kind === "indeterminate") return { kind: "retry", reason: "write_not_known" };
  if (result.kind === "applied") return { kind: "done", outcome: "applied" };
  const isContradicted = alertIfContradicted(result.transaction, message.settlement);
  return { kind: "done", outcome: isContradicted ? "contradiction" : "duplicate" };
};

/** What the upstream reported, about a reference that we know, about our own, or about one that we may yet learn. */
const applyEvent = async (deps: Applying, event: EventMessage, deadline: Deadline): Promise<MessageResult> => {
  const [named, ...others] = await findByUpstreamReference(deps.ledger, event.reference);
  if (named !== undefined && others.length === 0) return applyToNamed(deps, named, event, verdictOf(event), deadline);
  if (named !== undefined) return escalate(deps, event, "several_candidates");
  const own = await findByOwnReference(deps.ledger, event.reference);
  // Our own reference says nothing of what the upstream calls the order: what is on record of that stays.
  if (own !== undefined) {
    return applyToNamed(deps, own, event, { ...verdictOf(event), upstream_reference: undefined }, deadline);
  }
  const waitS = stillWaitsS(deps.ledger.clock() - Date.parse(event.received_at));
  if (waitS !== undefined) return { kind: "retry", reason: "reference_unknown", afterS: waitS };
  return matchHeuristically(deps, event, deadline);
};

const applyToNamed = async (
  deps: Applying,
  named: IndexedTransaction,
  event: EventMessage,
  settlement: Settlement,
  deadline: Deadline,
): Promise<MessageResult> => {
  if (named.mode !== event.mode) return escalate(deps, event, "no_candidate");
  await compareAmount(deps, named, event);
  if (isFinalStatus(named.status)) return judgeFinal(deps, named.pk, named.status, event);
  if (event.status === "failed" && !hasOwnMac(await deps.keyedHashes(), event)) {
    return escalate(deps, event, "unauthenticated", named.pk);
  }
  const result = await deps.settle(deps.ledger, named, settlement, deadline);
  if (result.kind === "indeterminate") return { kind: "retry", reason: "write_not_known" };
  if (result.kind === "applied") return { kind: "done", outcome: "applied" };
  return judgeFinal(deps, named.pk, result.transaction.status, event);
};

/**
 * Before anything else, for what the upstream charges is our cost however the order stands. An amount that is on record already
 * raised its alarm when it was learnt.
 */
const compareAmount = async ({ ledger }: ApplyDeps, named: IndexedTransaction, event: EventMessage): Promise<void> => {
  if (event.amount_kobo === undefined || event.amount_kobo === named.amount_kobo) return;
  const transaction = await readTransaction(ledger, named.pk);
  if (transaction?.upstream_amount_kobo === event.amount_kobo) return;
  alertIfAmountDiffers(named, event.amount_kobo);
};

/** A final status stands. What speaks against it is kept and said aloud, for the operator, and not applied. */
const judgeFinal = async (
  deps: ApplyDeps,
  transaction: string,
  status: string,
  event: EventMessage,
): Promise<MessageResult> =>
  status === event.status
    ? { kind: "done", outcome: "duplicate" }
    : escalate(deps, event, "contradiction", transaction);

/**
 * A reference that nobody knows: the call that would have told us may have timed out. A delivered order is matched if exactly one
 * open transaction without an upstream reference fits, and if that one is young: the event may be about any that fits, but hardly
 * about an old one. A failure is never matched by guess: it would give money back.
 */
const matchHeuristically = async (deps: ApplyDeps, event: EventMessage, deadline: Deadline): Promise<MessageResult> => {
  if (event.status === "failed") return escalate(deps, event, "unknown_failure");
  const [candidate, ...others] = await candidatesFor(deps, event);
  if (others.length > 0) return escalate(deps, event, "several_candidates");
  if (candidate === undefined || isTooOld(candidate, event)) return escalate(deps, event, "no_candidate");
  // Its own transaction may have got its name since that was looked for, and so be no candidate any more.
  const isNamedByNow = (await findByUpstreamReference(deps.ledger, event.reference)).length > 0;
  if (!isNamedByNow && (await settleByHeuristicMatch(deps.ledger, candidate, verdictOf(event), deadline))) {
    return { kind: "done", outcome: "matched" };
  }
  return { kind: "retry", reason: "candidate_moved", afterS: 1 };
};

/** An order that is older than this by the time of an event is not taken for its own. */
const MATCH_WINDOW_MS = 30 * 60_000;

const isTooOld = ({ created_at }: Transaction, { received_at }: EventMessage): boolean =>
  Date.parse(received_at) - Date.parse(created_at) > MATCH_WINDOW_MS;

const candidatesFor = async (
  { ledger, keyedHashes }: ApplyDeps,
  event: EventMessage,
): Promise<readonly Transaction[]> => {
  const { hashSubject } = await keyedHashes();
  return (await openTransactions(ledger, { from: "0000", to: event.received_at })).filter(
    (transaction) =>
      transaction.upstream_reference === undefined &&
      transaction.type === event.type &&
      transaction.amount_kobo === event.amount_kobo &&
      transaction.phone_number !== undefined &&
      hashSubject("phone_number", transaction.phone_number) === event.phone?.hmac,
  );
};

/** Until an event is this old, our own write of its reference may still be on its way, or its order in flight. */
const UNKNOWN_PATIENCE_MS = 180_000;
/** Looks after 5 s, 30 s and then at the end: an event that was faster than our write is applied soon. */
const LOOKS_MS = [5_000, 30_000, UNKNOWN_PATIENCE_MS];

/** Seconds until the next look, or undefined once the event is old enough to be decided. */
const stillWaitsS = (ageMs: number): number | undefined => {
  const nextMs = LOOKS_MS.find((lookMs) => lookMs > ageMs);
  return nextMs === undefined ? undefined : Math.ceil((nextMs - ageMs) / 1_000);
};

const verdictOf = ({ status, reference, amount_kobo }: EventMessage): Settlement => {
  const facts = { upstream_reference: reference, upstream_amount_kobo: amount_kobo };
  return status === "success" ? { status, ...facts } : { status, failure: { code: "delivery_failed" }, ...facts };
};

/** Keeps it with its transaction, where its reference names one: that one may stand as the opposite of what was reported. */
const keepUnreadable = async ({ ledger }: ApplyDeps, message: UnreadableMessage): Promise<MessageResult> => {
  const { reference, problem } = message;
  const transaction = reference === undefined ? undefined : (await findNamed(ledger, reference))?.pk;
  await recordUnreadable(ledger, message, transaction);
  const reason = "unreadable";
  log.alarm("status.left_to_operator", {
    reason,
    problem,
    upstream_reference: reference,
    ...(await subjectOf(ledger, transaction)),
  });
  return { kind: "done", outcome: reason };
};

/** The one transaction that a reference names, the upstream's or our own. */
const findNamed = async (ledger: Ledger, reference: string): Promise<IndexedTransaction | undefined> => {
  const [named, ...others] = await findByUpstreamReference(ledger, reference);
  if (others.length > 0) return undefined;
  return named ?? findByOwnReference(ledger, reference);
};

/** The transaction under the reference that the operator's commands accept. */
const subjectOf = async (ledger: Ledger, pk: string | undefined): Promise<{ readonly transaction?: string }> => {
  const transaction = pk === undefined ? undefined : await readTransaction(ledger, pk);
  return transaction === undefined ? {} : { transaction: referenceOf(transaction) };
};

const escalate = async (
  { ledger }: ApplyDeps,
  event: EventMessage,
  reason: EventReason,
  transaction?: string,
): Promise<MessageResult> => {
  await recordEvent(ledger, event, reason, transaction);
  log.alarm("status.left_to_operator", {
    reason,
    upstream_reference: event.reference,
    ...(await subjectOf(ledger, transaction)),
  });
  return { kind: "done", outcome: reason };
};
