import type { Kobo } from "../contract/money.ts";
import { log } from "../platform/log.ts";
import type { Settlement } from "./settle-transaction.ts";
import type { Transaction } from "./transaction.ts";
import { expectedAmount, isExpectedAmount, type UpstreamCosts } from "./upstream-costs.ts";

/**
 * Raises an alarm when a settlement has another final status than its transaction. Final statuses never change, so the
 * alarm is the settlement's only record: it has what an operator needs to ask the upstream. Returns whether it was
 * raised.
 */
export const alertIfContradicted = (
  { pk, status, amount_kobo }: Pick<Transaction, "pk" | "status" | "amount_kobo">,
  settlement: Settlement,
): boolean => {
  if (settlement.status === "processing" || settlement.status === status) return false;
  const { upstream_reference, upstream_amount_kobo } = settlement;
  const theirs = { says: settlement.status, upstream_reference, upstream_amount_kobo };
  log.alarm("transaction.contradicted", { transaction: pk, stands: status, amount_kobo, ...theirs });
  return true;
};

/**
 * Raises an alarm when the upstream states another amount for a live transaction than is expected: more costs us money,
 * and less means that the settings are wrong.
 */
export const alertIfAmountDiffers = (
  costs: UpstreamCosts,
  { pk, mode, ...priced }: Pick<Transaction, "pk" | "mode" | "amount_kobo" | "face_kobo" | "cost_kobo">,
  upstreamAmountKobo: Kobo,
): void => {
  if (mode !== "live" || isExpectedAmount(costs, priced, upstreamAmountKobo)) return;
  const ours = expectedAmount(costs, priced);
  log.alarm("transaction.amount_differs", { transaction: pk, ours, theirs: upstreamAmountKobo });
};
