import { deliveredId } from "../contract/corrections.ts";
import type { FinalStatus } from "../contract/final-status.ts";
import { koboMoneyText } from "../contract/values/money.ts";
import { type Actor, auditEntry, auditPut, SERVICE } from "../ledger/audit.ts";
import type { AuditedLedger, Ledger, Writes } from "../ledger/ledger.ts";
import {
  isOfClosedAccount,
  refundRefusedBy,
  type SeenByRefund,
  type Settlement,
  settlementWrites,
} from "../ledger/settle-transaction.ts";
import { operatorTransact, type ShowsNothing, type WriteFailure } from "../ledger/transact.ts";
import {
  inFlightMs,
  isFinalStatus,
  isIdentityCheck,
  isQueuedOrder,
  referenceOf,
  sendingOf,
  sentAt,
  type Transaction,
  waitsInAnotherLedger,
} from "../ledger/transaction.ts";
import { setParts, updateOf } from "../ledger/update-parts.ts";
import { amountFacts, expectedAmount, isExpectedAmount, type UpstreamCosts } from "../ledger/upstream-costs.ts";
import { closedError } from "../ledger/wallet.ts";
import { InFlightError, OperatorError } from "../platform/operator-error.ts";
import {
  eventSummary,
  isReadable,
  type ReadableEvent,
  receivedAt,
  type StoredEvent,
  storedEventId,
} from "./stored-event.ts";

/** The operator who decides, and the reason. */
export type Decision = Actor & { readonly why: string };

/**
 * Settles an open transaction by an operator's decision; `failed` refunds it. The webhook is sent as after any
 * settlement. `seen`: the sending that was decided about.
 */
export const resolveTransaction = async (
  ledger: AuditedLedger,
  transaction: Transaction,
  status: FinalStatus,
  decision: Decision,
  seen?: string,
): Promise<void> => {
  assertResolvable(ledger, transaction, status, seen);
  const action = {
    ...decision,
    ...auditPlace(transaction),
    action: "transactions resolve",
    details: { reference: referenceOf(transaction), status },
  };
  const audit = auditPut(ledger, auditEntry(action, ledger.clock()));
  await settle(ledger, transaction, settlementWithStatus(status), undefined, [audit]);
};

/** Throws OperatorError if an operator cannot settle the transaction so now. */
export const assertResolvable = (
  ledger: Ledger,
  transaction: Transaction,
  status: FinalStatus,
  seen?: string,
): void => {
  assertOpen(transaction, seen, ledger.clock());
  assertHasResult(transaction, status);
  if (status === "success" && isQueuedOrder(transaction) && !waitsInAnotherLedger(ledger, transaction)) {
    throw new OperatorError(
      `${referenceOf(transaction)} waits and was not sent: it can only be resolved as failed, which refunds it`,
    );
  }
};

/** An open check has returned no result, and is never charged without one. */
const assertHasResult = (transaction: Transaction, status: FinalStatus): void => {
  if (status !== "success" || !isIdentityCheck(transaction)) return;
  throw new OperatorError(
    `${referenceOf(transaction)} is a check whose result was never returned: it can only be resolved as failed`,
  );
};

/**
 * Settles a transaction as a stored event reports, by an operator's decision, and records the match on the event.
 * Refuses a transaction that differs from the event, unless a reference identifies it or the operator accepts the
 * differences. Resolves with the differences.
 */
export const matchEvent = async (
  { ledger, costs }: Matching,
  stored: StoredEvent,
  transaction: Transaction,
  decision: Decision,
  decided: Matched = {},
): Promise<readonly Difference[]> => {
  const { event, hasOwnReference, differences } = requireMatch({ ledger, costs }, stored, transaction, decided);
  const settlement = {
    ...settlementWithStatus(event.says),
    ...upstreamFactsOf(costs, event),
    ...(hasOwnReference && { upstream_reference: undefined }),
  };
  const action = {
    ...decision,
    ...auditPlace(transaction),
    action: "events match",
    details: {
      reference: referenceOf(transaction),
      event: storedEventId(event),
      says: event.says,
      ...(differences.length > 0 && { differs_in: differences.map(({ field }) => field).join(",") }),
    },
  };
  await settle(ledger, transaction, settlement, hasOwnReference ? undefined : event.reference, [
    eventUpdate(ledger, event, "matched", transaction.pk),
    auditPut(ledger, auditEntry(action, ledger.clock())),
  ]);
  return differences;
};

type Matching = { readonly ledger: AuditedLedger; readonly costs: UpstreamCosts };

/** What was decided of a match besides. `seen`: the sending that was decided about. */
type Matched = { readonly acceptsDifferences?: boolean | undefined; readonly seen?: string | undefined };

/** How the event and the transaction fit. Throws OperatorError if they cannot be matched now. */
export const requireMatch = (
  { ledger, costs }: Matching,
  event: StoredEvent,
  transaction: Transaction,
  { acceptsDifferences = false, seen }: Matched,
) => {
  assertOpenEvent(event);
  if (!isReadable(event)) {
    throw new OperatorError(`${storedEventId(event)} reports no status (${event.problem})`, {
      command: "settle its transaction with transactions resolve, then discard it",
      separator: ": ",
    });
  }
  assertOpen(transaction, seen, ledger.clock());
  assertHasResult(transaction, event.says);
  if (transaction.mode !== "live") {
    throw new OperatorError(`${referenceOf(transaction)} is a sandbox transaction: no event is about it`);
  }
  // An event under our own reference does not say what the upstream calls the order.
  const hasOwnReference = event.reference === referenceOf(transaction);
  if (!hasOwnReference) {
    assertUpstreamReference(transaction, event);
    assertSent(ledger, transaction);
  }
  const differences = differencesOf(costs, event, transaction);
  if (!hasOwnReference && transaction.upstream_reference === undefined && !acceptsDifferences) {
    assertNoDifferences(transaction, differences);
  }
  return { event, hasOwnReference, differences };
};

/** A field in which an event and a transaction differ, with both values formatted for an operator. */
export type Difference = { readonly field: string; readonly event: string; readonly transaction: string };

/**
 * Compares the fields that both have. Phone numbers may be masked: only the digits that both show are compared. An order
 * that was sent after the event came is another one.
 */
export const differencesOf = (
  costs: UpstreamCosts,
  event: ReadableEvent,
  transaction: Transaction,
): readonly Difference[] => {
  const { type, amount_kobo, phone_masked } = event;
  const { phone_number = "none" } = transaction;
  return [
    ...(type === undefined || type === transaction.type
      ? []
      : [{ field: "type", event: type, transaction: transaction.type }]),
    ...(amount_kobo === undefined || isExpectedAmount(costs, transaction, amount_kobo)
      ? []
      : [
          {
            field: "amount",
            event: koboMoneyText(amount_kobo),
            transaction: koboMoneyText(expectedAmount(costs, transaction)),
          },
        ]),
    ...(phone_masked === undefined || mayBeSamePhone(phone_masked, phone_number)
      ? []
      : [{ field: "phone number", event: phone_masked, transaction: phone_number }]),
    ...(sentAt(transaction) <= receivedAt(event)
      ? []
      : [{ field: "time", event: receivedAt(event), transaction: sentAt(transaction) }]),
  ];
};

const mayBeSamePhone = (one: string, other: string): boolean => {
  const [prefix, suffix] = visibleParts(one);
  const [otherPrefix, otherSuffix] = visibleParts(other);
  return (
    (prefix.startsWith(otherPrefix) || otherPrefix.startsWith(prefix)) &&
    (suffix.endsWith(otherSuffix) || otherSuffix.endsWith(suffix))
  );
};

/** The digits before the mask and after it; all digits twice if nothing is masked. */
const visibleParts = (phoneNumber: string): readonly [string, string] => {
  const parts = phoneNumber.split("*");
  return [parts[0] ?? "", parts.at(-1) ?? ""];
};

const assertNoDifferences = (transaction: Transaction, differences: readonly Difference[]): void => {
  if (differences.length === 0) return;
  const list = differences.map((one) => `${one.field} (${one.event}, not ${one.transaction})`).join(", ");
  throw new OperatorError(`The event differs from ${referenceOf(transaction)} in ${list}`, {
    command: "--although-different matches them nevertheless",
    separator: ": ",
  });
};

/** Closes an event without applying it. */
export const discardEvent = async (ledger: AuditedLedger, event: StoredEvent, decision: Decision): Promise<void> => {
  assertOpenEvent(event);
  const action = {
    ...decision,
    audit_log: SERVICE,
    about: event.transaction_pk ?? event.pk,
    action: "events discard",
    details: { event: storedEventId(event), says: eventSummary(event) },
  };
  const audit = auditPut(ledger, auditEntry(action, ledger.clock()));
  const result = await writeOrRefuse(ledger, [eventUpdate(ledger, event, "discarded"), audit]);
  if (result.kind === "condition_failed") {
    throw new OperatorError(`${storedEventId(event)} has been matched or discarded by another operator`);
  }
};

/** What an operator decides about a transaction is in its account's audit log. */
const auditPlace = ({ account_id: audit_log, pk: about }: Transaction) => ({ audit_log, about });

const settlementWithStatus = (status: FinalStatus): Settlement =>
  status === "success" ? { status } : { status, failure: { code: "delivery_failed" } };

const upstreamFactsOf = (costs: UpstreamCosts, { says, reference, amount_kobo }: ReadableEvent) => ({
  upstream_reference: reference,
  ...amountFacts(costs, says, amount_kobo),
});

const assertOpen = (transaction: Transaction, seen: string | undefined, nowMs: number): void => {
  if (isFinalStatus(transaction.status)) throw finalStatusError(transaction);
  if (seen !== undefined && seen !== sendingOf(transaction)) throw anotherSendingError(transaction);
  const waitMs = inFlightMs(transaction, nowMs);
  if (waitMs === 0) return;
  if (seen === undefined && transaction.claim !== undefined) {
    // It may have waited when that was decided: a command must not wait for this request's end and settle it then.
    const agoS = Math.round((nowMs - Date.parse(sentAt(transaction))) / 1_000);
    throw new OperatorError(
      `${referenceOf(transaction)} waited, and was sent ${agoS} s ago. Check it and try again later`,
    );
  }
  throw new InFlightError(
    `The request of ${referenceOf(transaction)} may still be in flight: try again in ${Math.ceil(waitMs / 1_000)} s`,
    waitMs,
  );
};

/** A decision is about one sending: what is known of it says nothing of another, which may have been delivered. */
const anotherSendingError = (transaction: Transaction): OperatorError =>
  new OperatorError(
    `${referenceOf(transaction)} has begun to wait or was sent since you saw it. Check it and try again`,
  );

/** The command that corrects a wrong final status, once, even if two operators run it. */
export const correctionOf = (transaction: Transaction): string =>
  transaction.status === "success"
    ? "transactions refund gives the amount back, once"
    : `wallet adjust takes the amount of one that was delivered, once, with --id ${deliveredId(referenceOf(transaction))}`;

const finalStatusError = (transaction: Transaction): OperatorError =>
  new OperatorError(
    `${referenceOf(transaction)} was settled as ${transaction.status} at ${transaction.updated_at}; that is final`,
    { command: correctionOf(transaction), separator: ": " },
  );

const assertUpstreamReference = ({ upstream_reference, ...transaction }: Transaction, event: ReadableEvent): void => {
  if (upstream_reference === undefined || upstream_reference === event.reference) return;
  throw new OperatorError(
    `The upstream calls ${referenceOf(transaction)} ${upstream_reference}, and the event is about ${event.reference}`,
  );
};

/** Only an event under our own reference can be about an order that was not sent. */
const assertSent = (ledger: Ledger, transaction: Transaction): void => {
  if (!isQueuedOrder(transaction) || waitsInAnotherLedger(ledger, transaction)) return;
  throw new OperatorError(`${referenceOf(transaction)} waits and was not sent: the event is about another order`);
};

const assertOpenEvent = (event: StoredEvent): void => {
  if (event.state !== "open") throw new OperatorError(`${storedEventId(event)} is ${event.state} already`);
};

const eventUpdate = ({ table }: Ledger, { pk }: StoredEvent, state: StoredEvent["state"], transaction_pk?: string) => ({
  Update: {
    TableName: table,
    Key: { pk },
    ...updateOf(setParts({ state, transaction_pk }, ["open", "listed_at"]), {
      conditions: ["#state = :undecided"],
      values: { ":undecided": "open" },
    }),
  },
});

/**
 * Settles the transaction in one write with other items, or throws why nothing was written. `reference`: the upstream's
 * in the event that was matched to it.
 */
const settle = async (
  ledger: Ledger,
  transaction: Transaction,
  settlement: Settlement,
  reference: string | undefined,
  otherWrites: Writes,
): Promise<void> => {
  const resolved = { ...settlement, resolved_by: "operator" as const };
  const condition = { absentOr: reference, sending: transaction };
  const write = async (seen: SeenByRefund) => {
    const writes = [...settlementWrites(ledger, transaction, resolved, condition, seen), ...otherWrites];
    const attempted = await writeOrRefuse(ledger, writes);
    if (isOfClosedAccount(attempted)) throw closedError(transaction.account_id);
    return attempted;
  };
  let result = await write({});
  for (
    let seen = refundRefusedBy(transaction, result, {});
    seen !== undefined;
    seen = refundRefusedBy(transaction, result, seen)
  ) {
    result = await write(seen);
  }
  if (result.kind === "done") return;
  if (result.transaction === undefined) {
    throw new OperatorError("The event has been matched or discarded, or a copy of it was matched elsewhere");
  }
  if (isFinalStatus(result.transaction.status)) throw finalStatusError(result.transaction);
  if (
    isQueuedOrder(result.transaction) !== isQueuedOrder(transaction) ||
    result.transaction.claim !== transaction.claim
  ) {
    throw anotherSendingError(transaction);
  }
  throw new OperatorError(
    `The upstream's reference of ${referenceOf(transaction)} is ${result.transaction.upstream_reference}`,
  );
};

const writeOrRefuse = async (
  ledger: Ledger,
  writes: Writes,
): Promise<
  (ShowsNothing & { readonly kind: "done" }) | Extract<WriteFailure, { readonly kind: "condition_failed" }>
> => {
  const result = await operatorTransact(ledger, writes);
  if (result.kind === "written") return { kind: "done" };
  // A copy without an answer may be what the condition failed for, or may still land once an account is reopened.
  if (result.kind !== "condition_failed" || !result.isCertain) throw result.error;
  return result;
};
