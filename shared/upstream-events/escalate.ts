import type { MessageResult } from "../call/message-result.ts";
import type { EventReason } from "../contract/event-reasons.ts";
import { loggableReference } from "../contract/values/mask-phones.ts";
import {
  findByOwnReference,
  findByUpstreamReference,
  type IndexedTransaction,
  readTransaction,
} from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { isErased, maskedNumber } from "../ledger/masked-transaction.ts";
import { referenceOf, type Transaction } from "../ledger/transaction.ts";
import type { UnreadableMessage } from "../orders/outcome-message.ts";
import { log } from "../platform/log.ts";
import { type ReportedOrder, recordEvent, recordUnreadable, type StoredEvent } from "./stored-event.ts";

type EscalationDeps = { readonly ledger: Ledger };

export const readIfKnown = async (ledger: Ledger, pk: string | undefined): Promise<Transaction | undefined> =>
  pk === undefined ? undefined : readTransaction(ledger, pk);

/** Records an unreadable event with its transaction, where that is known: the event may contradict its final status. */
export const escalateUnreadable = async (
  { ledger }: EscalationDeps,
  message: UnreadableMessage,
): Promise<MessageResult> => {
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

export const escalate = async (
  { ledger }: EscalationDeps,
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
export const alarmed = (
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

/** A final status does not change: an event that contradicts it goes to the operator. */
export const escalateIfContradicted = async (
  deps: EscalationDeps,
  transactionPk: string,
  status: string,
  event: ReportedOrder,
): Promise<MessageResult> =>
  status === event.status
    ? { kind: "done", outcome: "duplicate" }
    : escalate(deps, event, "contradiction", transactionPk);
