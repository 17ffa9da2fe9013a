import { type Actor, auditEntry, auditPut } from "../ledger/audit.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type ReferenceCondition, type Settlement, settlementWrites } from "../ledger/settle-transaction.ts";
import { classifyWriteError, transactWithRetry, type WriteFailure, type Writes } from "../ledger/transact.ts";
import { isFinalStatus, isIdentityCheck, referenceOf, type Transaction } from "../ledger/transaction.ts";
import { type Kobo, nairaFromKobo } from "../platform/money.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { type ReadableEvent, type StoredEvent, saysOf, storedEventId } from "./stored-event.ts";

/** Who decides, and why. */
export type Decision = Actor & { readonly why: string };

/**
 * The grace period in which the transaction's own request may still settle it: functions end after 29 s, and an operator's machine knows
 * AWS's time to some 2 s.
 */
const UNDER_WAY_MS_MAX = 32_000;

/** How long the request of an open transaction may still be under way; 0 once it has told what it learnt. */
export const inFlightMs = (transaction: Transaction, nowMs: number): number =>
  transaction.updated_at === transaction.created_at
    ? Math.max(0, Date.parse(transaction.created_at) + UNDER_WAY_MS_MAX - nowMs)
    : 0;

/** Ends an open transaction by the operator's word, once; `failed` gives the money back. Its account is told as of any other end. */
export const resolveTransaction = async (
  ledger: Ledger,
  transaction: Transaction,
  status: "success" | "failed",
  decision: Decision,
): Promise<void> => {
  assertOpen(transaction, ledger.clock());
  if (status === "success" && isIdentityCheck(transaction)) {
    throw new OperatorError(
      `${referenceOf(transaction)} is a check whose result nobody got: it can only be resolved as failed`,
    );
  }
  const act = { ...decision, subject: transaction.pk, action: "transactions resolve", details: { status } };
  const audit = auditPut(ledger.table, auditEntry(act, ledger.clock()));
  await decide(ledger, transaction, verdictOf(status), "any", [audit]);
};

/**
 * Has an event end the transaction that it is about, by the operator's word; what it says and what it is about are kept.
 * Refuses a transaction that differs from the event, unless its reference proves the match or the operator accepts the differences.
 * Resolves with the differences.
 */
export const matchEvent = async (
  ledger: Ledger,
  event: StoredEvent,
  transaction: Transaction,
  decision: Decision,
  { acceptsDifferences = false } = {},
): Promise<readonly Difference[]> => {
  assertUndecided(event);
  if (event.reason === "unreadable") {
    throw new OperatorError(
      `${storedEventId(event)} cannot be read (${event.problem}): end its transaction with transactions resolve, then discard it`,
    );
  }
  assertOpen(transaction, ledger.clock());
  if (transaction.mode !== "live")
    throw new OperatorError(`${referenceOf(transaction)} is of the sandbox: no event is about it`);
  // Under our own reference an event says nothing of what the upstream calls the order.
  const isOwn = event.reference === referenceOf(transaction);
  if (!isOwn) assertName(transaction, event);
  const differences = differencesOf(event, transaction);
  if (!isOwn && transaction.upstream_reference === undefined && !acceptsDifferences)
    assertSame(transaction, differences);
  const facts = upstreamFacts(event);
  const settlement = { ...verdictOf(event.says), ...facts, ...(isOwn && { upstream_reference: undefined }) };
  const act = {
    ...decision,
    subject: transaction.pk,
    action: "events match",
    details: {
      event: storedEventId(event),
      says: event.says,
      ...(differences.length > 0 && { differs_in: differences.map(({ field }) => field).join(",") }),
    },
  };
  await decide(ledger, transaction, settlement, isOwn ? "any" : { absentOr: event.reference }, [
    eventUpdate(ledger, event, "matched", transaction.pk),
    auditPut(ledger.table, auditEntry(act, ledger.clock())),
  ]);
  return differences;
};

/** A field in which an event and a transaction disagree, as people read it. */
export type Difference = { readonly field: string; readonly event: string; readonly transaction: string };

/** Compares what both sides state. A phone number may be masked on either side: only the digits that both show are compared. */
const differencesOf = (event: ReadableEvent, transaction: Transaction): readonly Difference[] => {
  const { type, amount_kobo, phone_masked } = event;
  const { phone_number = "none" } = transaction;
  const amount = (kobo: Kobo): string => `${nairaFromKobo(kobo).toFixed(2)} NGN`;
  return [
    ...(type === undefined || type === transaction.type
      ? []
      : [{ field: "type", event: type, transaction: transaction.type }]),
    ...(amount_kobo === undefined || amount_kobo === transaction.amount_kobo
      ? []
      : [{ field: "amount", event: amount(amount_kobo), transaction: amount(transaction.amount_kobo) }]),
    ...(phone_masked === undefined || maySamePhone(phone_masked, phone_number)
      ? []
      : [{ field: "phone number", event: phone_masked, transaction: phone_number }]),
  ];
};

const maySamePhone = (one: string, other: string): boolean => {
  const [beginning, end] = visibleParts(one);
  const [otherBeginning, otherEnd] = visibleParts(other);
  return (
    (beginning.startsWith(otherBeginning) || otherBeginning.startsWith(beginning)) &&
    (end.endsWith(otherEnd) || otherEnd.endsWith(end))
  );
};

/** The digits before the mask and those after it; all digits twice where nothing is masked. */
const visibleParts = (phoneNumber: string): readonly [string, string] => {
  const parts = phoneNumber.split("*");
  return [parts[0] ?? "", parts.at(-1) ?? ""];
};

const assertSame = (row: Transaction, differences: readonly Difference[]): void => {
  if (differences.length === 0) return;
  const list = differences.map(({ field, event, transaction }) => `${field} (${event}, not ${transaction})`).join(", ");
  throw new OperatorError(
    `The event differs from ${referenceOf(row)} in ${list}: --although-different matches them all the same`,
  );
};

/** Closes an event without applying it. */
export const discardEvent = async (ledger: Ledger, event: StoredEvent, decision: Decision): Promise<void> => {
  assertUndecided(event);
  const act = { ...decision, subject: event.transaction ?? event.pk, action: "events discard" };
  const audit = auditEntry({ ...act, details: { event: storedEventId(event), says: saysOf(event) } }, ledger.clock());
  const outcome = await write(ledger, [eventUpdate(ledger, event, "discarded"), auditPut(ledger.table, audit)]);
  if (outcome.kind === "condition_failed")
    throw new OperatorError(`${storedEventId(event)} was decided by somebody else meanwhile`);
};

const verdictOf = (status: "success" | "failed"): Settlement =>
  status === "success" ? { status } : { status, failure: { code: "delivery_failed" } };

const upstreamFacts = ({ reference, amount_kobo }: ReadableEvent) => ({
  upstream_reference: reference,
  ...(amount_kobo !== undefined && { upstream_amount_kobo: amount_kobo }),
});

const assertOpen = (transaction: Transaction, nowMs: number): void => {
  if (isFinalStatus(transaction.status)) throw finalStatusError(transaction);
  const waitS = Math.ceil(inFlightMs(transaction, nowMs) / 1_000);
  if (waitS === 0) return;
  throw new OperatorError(`The request of ${referenceOf(transaction)} may still be under way: try again in ${waitS} s`);
};

const finalStatusError = (transaction: Transaction): OperatorError =>
  new OperatorError(
    `${referenceOf(transaction)} is ${transaction.status} since ${transaction.updated_at}, and that is final: wallet adjust corrects what is wrong`,
  );

const assertName = ({ upstream_reference, ...transaction }: Transaction, event: ReadableEvent): void => {
  if (upstream_reference === undefined || upstream_reference === event.reference) return;
  throw new OperatorError(
    `The upstream calls ${referenceOf(transaction)} ${upstream_reference}, and the event is about ${event.reference}`,
  );
};

const assertUndecided = (event: StoredEvent): void => {
  if (event.state !== "open") throw new OperatorError(`${storedEventId(event)} is ${event.state} already`);
};

const eventUpdate = ({ table }: Ledger, { pk }: StoredEvent, state: StoredEvent["state"], transaction?: string) => ({
  Update: {
    TableName: table,
    Key: { pk },
    UpdateExpression: `SET #state = :state${transaction === undefined ? "" : ", #transaction = :transaction"}`,
    ConditionExpression: "#state = :open",
    ExpressionAttributeNames: {
      "#state": "state",
      ...(transaction !== undefined && { "#transaction": "transaction" }),
    },
    ExpressionAttributeValues: {
      ":state": state,
      ":open": "open",
      ...(transaction !== undefined && { ":transaction": transaction }),
    },
  },
});

/** Settles the transaction together with what is written beside it, or says why nothing was written. */
const decide = async (
  ledger: Ledger,
  transaction: Transaction,
  settlement: Settlement,
  condition: ReferenceCondition,
  beside: Writes,
): Promise<void> => {
  const outcome = await write(ledger, [...settlementWrites(ledger, transaction, settlement, condition), ...beside]);
  if (outcome.kind === "done") return;
  if (outcome.transaction === undefined) {
    throw new OperatorError("The event was decided meanwhile, or matched to another transaction by a copy of it");
  }
  if (isFinalStatus(outcome.transaction.status)) throw finalStatusError(outcome.transaction);
  throw new OperatorError(
    `The upstream calls ${referenceOf(transaction)} ${outcome.transaction.upstream_reference} by now`,
  );
};

const write = async (
  ledger: Ledger,
  writes: Writes,
): Promise<{ readonly kind: "done" } | Extract<WriteFailure, { readonly kind: "condition_failed" }>> => {
  try {
    await transactWithRetry(ledger, writes);
    return { kind: "done" };
  } catch (error) {
    const failure = classifyWriteError(error);
    if (failure.kind !== "condition_failed") throw error;
    return failure;
  }
};
