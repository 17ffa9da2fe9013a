import { loggableReference } from "../contract/values/mask-phones.ts";
import type { Kobo } from "../contract/values/money.ts";
import { log } from "../platform/log.ts";
import type { Settlement } from "./settle-transaction.ts";
import { referenceOf, type Transaction } from "./transaction.ts";
import { expectedAmount, isExpectedAmount, type UpstreamCosts } from "./upstream-costs.ts";

/**
 * Raises an alarm when a settlement has another final status than its transaction. Final statuses never change, so the
 * alarm is the settlement's only record: it has what an operator needs to ask the upstream. Returns whether it was
 * raised.
 */
export const alertIfContradicted = (
  transaction: Pick<Transaction, "pk" | "type" | "mode" | "status" | "amount_kobo">,
  settlement: Settlement,
): boolean => {
  const { status, amount_kobo } = transaction;
  if (settlement.status === "processing" || settlement.status === status) return false;
  const { upstream_reference, upstream_amount_kobo } = settlement;
  log.alarm("transaction.contradicted", {
    transaction: referenceOf(transaction),
    stands: status,
    amount_kobo,
    says: settlement.status,
    upstream_reference: loggableReference(upstream_reference),
    upstream_amount_kobo,
  });
  return true;
};

/**
 * Raises an alarm when the upstream states another amount for a live transaction than is expected: more costs us money,
 * and less means that the settings are wrong.
 */
export const alertIfAmountDiffers = (
  costs: UpstreamCosts,
  transaction: Pick<Transaction, "pk" | "type" | "mode" | "amount_kobo" | "face_kobo" | "cost_kobo">,
  upstreamAmountKobo: Kobo,
): void => {
  if (transaction.mode !== "live" || isExpectedAmount(costs, transaction, upstreamAmountKobo)) return;
  log.alarm("transaction.amount_differs", {
    transaction: referenceOf(transaction),
    ours: expectedAmount(costs, transaction),
    theirs: upstreamAmountKobo,
  });
};
