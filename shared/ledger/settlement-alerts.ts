import type { Kobo } from "../contract/money.ts";
import { log } from "../platform/log.ts";
import type { Settlement } from "./settle-transaction.ts";
import type { Transaction } from "./transaction.ts";

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
 * Raises an alarm when the upstream charged another amount for a live transaction than its account paid: more costs us
 * money, and less means that our price is wrong.
 */
export const alertIfAmountDiffers = (
  { pk, mode, amount_kobo }: Pick<Transaction, "pk" | "mode" | "amount_kobo">,
  upstreamAmountKobo: Kobo,
): void => {
  if (mode !== "live" || upstreamAmountKobo === amount_kobo) return;
  log.alarm("transaction.amount_differs", { transaction: pk, ours: amount_kobo, theirs: upstreamAmountKobo });
};
