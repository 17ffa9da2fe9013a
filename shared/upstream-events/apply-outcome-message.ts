import type { MessageResult } from "../call/message-result.ts";
import { readTransaction } from "../ledger/find-transactions.ts";
import {
  createSequentialSettle,
  NOT_DELIVERED,
  type Settlement,
  type SettlementResult,
} from "../ledger/settle-transaction.ts";
import { alertIfContradicted } from "../ledger/settlement-alerts.ts";
import { isFinalStatus, type Transaction } from "../ledger/transaction.ts";
import { voidDebit } from "../ledger/void-debit.ts";
import type { EnqueueMessage, OutcomeMessage, SettlementMessage, VoidMessage } from "../orders/outcome-message.ts";
import type { Deadline } from "../platform/deadline.ts";
import { enqueueOrder } from "../queued-orders/queue-store.ts";
import { applyAnswer } from "./apply-answer.ts";
import { applyUpstreamEvent } from "./apply-upstream-event.ts";
import { escalateUnreadable } from "./escalate.ts";
import { type ApplyDeps, retryOf, type SettleDeps } from "./message-settlement.ts";

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
        return applyUpstreamEvent(settleDeps, message, deadline);
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
