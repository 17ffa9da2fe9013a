import { log } from "../platform/log.ts";
import type { Settlement } from "./settle-transaction.ts";
import type { Transaction } from "./transaction.ts";

/**
 * Raises an alarm when a verdict names another final status than the one the transaction has. Final statuses never change, so the
 * alarm is the only record of the verdict: it carries what an operator needs to ask the upstream. Returns whether it was raised.
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
