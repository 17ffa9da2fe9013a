import * as z from "#zod";
import { lazyObject } from "../contract/lazy-object.ts";
import { koboSchema } from "../contract/values/money.ts";
import { backoff } from "../platform/backoff.ts";
import { abortAfter, type Deadline, settleBudgetMs } from "../platform/deadline.ts";
import { keyedMutex } from "../platform/keyed-mutex.ts";
import { errorFields, log } from "../platform/log.ts";
import type { Ledger, Writes } from "./ledger.ts";
import { refundPut } from "./refund.ts";
import { classifyWriteError, type IndeterminateWrite, indeterminateAfter, type WriteFailure } from "./transact.ts";
import { failureSchema, isFinalStatus, isQueuedOrder, type Transaction } from "./transaction.ts";
import { claimIs, settlingTransition, transactionUpdate } from "./transaction-state.ts";
import type { UpdateParts } from "./update-parts.ts";
import { upstreamReferenceReservation } from "./upstream-reference.ts";
import { giveBack, keyUsageUpdate, type SeenUsage, seenUsage } from "./usage.ts";
import { walletCredit, walletQueueGap } from "./wallet.ts";
import { bookingTime } from "./wallet-seal.ts";

const upstreamFactFields = () => ({
  upstream_reference: z.optional(z.string().check(z.minLength(1), z.maxLength(100))),
  upstream_amount_kobo: z.optional(koboSchema),
});
/** The cost only if the upstream's amount is what it charged. */
const factAndCostFields = () => ({ ...upstreamFactFields(), cost_kobo: z.optional(koboSchema) });

/**
 * What the ledger does with an outcome: sets the final status, or records the upstream's reference and amount. `failed`
 * refunds, and never changes the cost.
 */
export const settlementSchema = z.discriminatedUnion("status", [
  lazyObject(() => ({ status: z.literal("success"), ...factAndCostFields() })),
  lazyObject(() => ({ status: z.literal("processing"), ...factAndCostFields() })),
  lazyObject(() => ({ status: z.literal("failed"), failure: failureSchema, ...upstreamFactFields() })),
]);
export type Settlement = z.infer<typeof settlementSchema>;

/** A settlement as the transaction records it. */
export type RecordedSettlement = Settlement & Pick<Transaction, "resolved_by" | "reported_by">;

/** Of an order that was certainly not delivered. */
export const NOT_DELIVERED: Settlement = { status: "failed", failure: { code: "delivery_failed" } };

export type SettlementResult =
  | { readonly kind: "applied" }
  /**
   * Nothing was written: this is the stored transaction, which has a final status, is another request's, or began or
   * ceased to wait: for `settleAsRead`, and if the settlement may be of a sending before.
   */
  | { readonly kind: "already_settled"; readonly transaction: Transaction }
  /** No attempt got a conclusive response before the deadline, or there is no wallet to refund. */
  | IndeterminateWrite;

/** The attributes of a transaction that a settlement needs. A queued one may have a number in the account's queue. */
export type SettleTarget = Pick<
  Transaction,
  "pk" | "mode" | "write_token" | "account_id" | "amount_kobo" | "counted" | "queued"
>;

/**
 * Applies a settlement if its transaction is `processing`; the refund of a failed one is in the same write. Settlements
 * may arrive more than once and in any order: the first one with a final status counts. An order that began or ceased
 * to wait since the target was read is settled as it is now.
 */
export const settleTransaction = async (
  ledger: Ledger,
  target: SettleTarget,
  settlement: RecordedSettlement,
  deadline: Deadline,
): Promise<SettlementResult> => {
  const result = await settleAsRead(ledger, target, settlement, deadline);
  if (result.kind !== "already_settled") return result;
  const { transaction } = result;
  // What is left of the conditions that the stored transaction failed is whether it waits.
  const hasMoved =
    isFinalStatus(settlement.status) &&
    !isFinalStatus(transaction.status) &&
    !mayBeOfSendingBefore(transaction, settlement) &&
    transaction.write_token === target.write_token &&
    transaction.mode === target.mode;
  if (!hasMoved) return result;
  return settleBudgetMs(deadline) > 0
    ? settleTransaction(ledger, transaction, settlement, deadline)
    : { kind: "indeterminate" };
};

/**
 * Whether a failure that the upstream reports later than in its answer may be of a sending before the last one, which may
 * be delivered: it refused that one with 429, because of the order itself, and has both under our reference.
 */
export const mayBeOfSendingBefore = (
  { refusals, queued }: Pick<Transaction, "refusals" | "queued">,
  { status, reported_by }: RecordedSettlement,
): boolean => status === "failed" && reported_by !== undefined && refusals !== undefined && queued === undefined;

/**
 * The same, but nothing is written if the order began or ceased to wait since the target was read. The sender of
 * queued orders refunds by it: an order that ceased to wait may be on its way upstream.
 */
export const settleAsRead = async (
  ledger: Ledger,
  target: SettleTarget,
  settlement: RecordedSettlement,
  deadline: Deadline,
): Promise<SettlementResult> => {
  const result = await writeUntilDeadline(ledger, target, settlement, "any", deadline);
  if (result.kind !== "condition_failed") return result;
  const { transaction } = result;
  return transaction === undefined ? indeterminateAfter(result.error) : { kind: "already_settled", transaction };
};

/**
 * `settle` for many transactions at once. Refunds of one wallet are settled in sequence, because each holds the wallet:
 * the others would be cancelled, and charged for.
 */
export const createSequentialSettle = (settle = settleTransaction): typeof settleTransaction => {
  const inSequence = keyedMutex();
  return (ledger, target, settlement, deadline) => {
    const settleNow = () => settle(ledger, target, settlement, deadline);
    return refunds(target, settlement) ? inSequence(target.account_id, settleNow) : settleNow();
  };
};

const refunds = ({ mode }: SettleTarget, { status }: Settlement): boolean => status === "failed" && mode === "live";

/**
 * Settles as `success` by heuristic match and reserves the upstream reference; fails if the transaction has an upstream
 * reference already, or if this one is reserved for another or an event under it reported `failed`. True if the
 * settlement is known to be applied.
 */
export const settleByHeuristicMatch = async (
  ledger: Ledger,
  target: SettleTarget,
  settlement: RecordedSettlement,
  deadline: Deadline,
): Promise<boolean> => {
  const result = await writeUntilDeadline(ledger, target, settlement, "absent", deadline);
  return result.kind === "applied";
};

/**
 * Settles as the upstream answered about this order. An upstream reference is reserved for it in the same write:
 * nothing is written if the transaction has another one, if it is reserved for another transaction, or if the order was
 * sent again under another claim since the upstream was asked.
 */
export const settleByAnswer = async (
  ledger: Ledger,
  target: SettleTarget,
  settlement: RecordedSettlement,
  sending: Pick<Transaction, "claim">,
  deadline: Deadline,
): Promise<{ readonly kind: "applied" | "refused" } | IndeterminateWrite> => {
  const condition = { absentOr: settlement.upstream_reference, sending };
  const result = await writeUntilDeadline(ledger, target, settlement, condition, deadline);
  return result.kind === "condition_failed" ? { kind: "refused" } : result;
};

/** A transaction after its settlement is applied. */
export const settledTransaction = (
  { open: _open, listed_at: _listedAt, queued: _queued, ...transaction }: Transaction,
  settlement: Settlement,
): Transaction => ({
  ...transaction,
  ...settlement,
});

type SettlementWrites = readonly [ReturnType<typeof transactionUpdate>, ...Writes];

/**
 * Retries through conflicts and unanswered attempts until the deadline, and dates a refund that a seal refused anew.
 * Each attempt has a token of its own: the condition on the transaction makes a second copy harmless.
 */
const writeUntilDeadline = async (
  ledger: Ledger,
  target: SettleTarget,
  settlement: RecordedSettlement,
  condition: ReferenceCondition,
  deadline: Deadline,
): Promise<
  | { readonly kind: "applied" }
  | IndeterminateWrite
  | (Extract<WriteFailure, { readonly kind: "condition_failed" }> & { readonly error: unknown })
> => {
  const nextAttempt = backoff(() => settleBudgetMs(deadline));
  let seen: SeenByRefund = {};
  for (;;) {
    try {
      const writes = settlementWrites(ledger, target, settlement, condition, seen);
      await writeOnce(ledger, writes, settleBudgetMs(deadline));
      return { kind: "applied" };
    } catch (error) {
      const failure = classifyWriteError(error);
      const refusedBy = refundRefusedBy(target, failure, seen);
      const isMissing = failure.kind === "condition_failed" && failure.transaction === undefined;
      if (failure.kind === "indeterminate" || (isMissing && refusedBy === undefined)) {
        log.warn("settlement.attempt_failed", { write_token: target.write_token, ...errorFields(error) });
      }
      // The order stays open until an operator has reopened the account.
      if (isOfClosedAccount(failure)) return indeterminateAfter(error);
      if (failure.kind === "condition_failed" && refusedBy === undefined) return { ...failure, error };
      seen = refusedBy ?? seen;
      if (!(await nextAttempt())) return indeterminateAfter(error);
    }
  }
};

/** Whether a refund was refused because its account is closed. */
export const isOfClosedAccount = ({ wallet }: Pick<WriteFailure, "wallet">): boolean => wallet?.closed === true;

/** What refused refunds have shown of the wallet and of the counters. */
export type SeenByRefund = SeenUsage & { readonly sealedTo?: string | undefined };

/**
 * What a refund must be written anew for: the wallet's seal, or counters of another day. The conditions of both items
 * have nothing else that existing ones can fail. Counters that are missing are not returned: a backup may have an order,
 * and not the counters of its key that the same write made. Nothing is given back to them.
 */
export const refundRefusedBy = (
  { counted }: Pick<SettleTarget, "counted">,
  failure: Pick<WriteFailure, "wallet" | "items">,
  before: SeenByRefund,
): SeenByRefund | undefined => {
  const usage = seenUsage(failure);
  if (usage.account === undefined && usage.key === undefined) {
    const mayLackCounters = counted?.key_id !== undefined && before.key === undefined && failure.items?.length === 0;
    return mayLackCounters ? { ...before, key: {} } : undefined;
  }
  return { ...before, ...usage, sealedTo: failure.wallet?.sealed_to ?? before.sealedTo };
};

const writeOnce = async ({ db }: Ledger, [update, ...others]: SettlementWrites, limitMs: number): Promise<void> => {
  const abort = { abortSignal: abortAfter(limitMs) };
  if (others.length > 0) await db.transactWrite({ TransactItems: [update, ...others] }, abort);
  else await db.update(update.Update, abort);
};

/**
 * Which upstream reference the stored transaction may have: any; none, for a heuristic match; or none or this one, for
 * an operator's decision and for an answer. An answer is about the sending under one claim.
 */
export type ReferenceCondition =
  | "any"
  | "absent"
  | { readonly absentOr: string | undefined; readonly sending?: Pick<Transaction, "claim"> };

/**
 * The parts of a settling write: the transaction's update, which is item 0; the change of the wallet by the refund of a
 * live failure or by the end of a wait; the refund's own item; and, where the settlement is matched to the transaction,
 * the reservation of its upstream reference. `seen`: what refused them before.
 */
export const settlementWrites = (
  ledger: Ledger,
  target: SettleTarget,
  settlement: RecordedSettlement,
  condition: ReferenceCondition,
  seen: SeenByRefund = {},
): SettlementWrites => {
  const { upstream_reference: upstreamReference } = settlement;
  const bookedAt = bookingTime(ledger, seen.sealedTo);
  const refund = refunds(target, settlement) ? { amount: target.amount_kobo, bookedAt } : undefined;
  const usage = refund && usageGivenBack(target, seen);
  const number = isFinalStatus(settlement.status) ? target.queued?.number : undefined;
  const { status, ...facts } = settlement;
  const transition = settlingTransition(status, isQueuedOrder(target));
  return [
    transactionUpdate(ledger, target, transition, facts, ...requirementsOf(condition)),
    ...(number !== undefined ? [walletQueueGap(ledger, target.account_id, number, refund, usage?.account)] : []),
    ...(number === undefined && refund !== undefined
      ? [walletCredit(ledger, target.account_id, refund, usage?.account)]
      : []),
    ...(usage?.key === undefined ? [] : [keyUsageUpdate(ledger, usage.key.of, usage.key.parts)]),
    ...(refund !== undefined ? [refundPut(ledger, target, bookedAt)] : []),
    ...(condition === "any" || upstreamReference === undefined
      ? []
      : [
          upstreamReferenceReservation(
            ledger,
            { transactionPk: target.pk, upstreamReference },
            condition === "absent" ? "heuristic_match" : "decision",
          ),
        ]),
  ];
};

/** What a refund gives back of the counters that counted the order. */
const usageGivenBack = ({ account_id: accountId, amount_kobo, counted }: SettleTarget, seen: SeenByRefund) => {
  if (counted === undefined) return undefined;
  const { account, key_id: keyId } = counted;
  const parts = giveBack(amount_kobo, counted, seen.key);
  return {
    account: account && giveBack(amount_kobo, counted, seen.account),
    key: keyId !== undefined && parts !== undefined ? { of: { keyId, accountId }, parts } : undefined,
  };
};

/** Which upstream reference and claim the stored transaction may have, as conditions of the update. */
const requirementsOf = (condition: ReferenceCondition): readonly UpdateParts[] => {
  if (condition === "any") return [];
  const isAbsent = "attribute_not_exists(upstream_reference)";
  if (condition === "absent") return [{ conditions: [isAbsent] }];
  const { absentOr: reference, sending } = condition;
  const isAbsentOr = `(${isAbsent} OR upstream_reference = :reference)`;
  return [
    ...(reference === undefined ? [] : [{ conditions: [isAbsentOr], values: { ":reference": reference } }]),
    ...(sending === undefined ? [] : [claimIs(sending.claim)]),
  ];
};
