import type { MessageResult } from "../call/message-result.ts";
import { findByUpstreamReference, readTransaction } from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { mayBeOfSendingBefore, settleByAnswer } from "../ledger/settle-transaction.ts";
import { isFinalStatus, isQueuedOrder, referenceOf, type Transaction } from "../ledger/transaction.ts";
import type { AnswerMessage } from "../orders/outcome-message.ts";
import type { Deadline } from "../platform/deadline.ts";
import { alarmed, escalate, escalateIfContradicted } from "./escalate.ts";
import { type ApplyDeps, retryOf, settlementOf } from "./message-settlement.ts";
import { type ReportedOrder, recordNotFound } from "./stored-event.ts";

/**
 * Applies the upstream's answer to the question for an order. Its sender has compared it with the order; that its
 * reference belongs to no other order is certain only here, in the settling write.
 */
export const applyAnswer = async (
  deps: ApplyDeps,
  message: AnswerMessage,
  deadline: Deadline,
): Promise<MessageResult> => {
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
