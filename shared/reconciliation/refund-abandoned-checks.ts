import type { Ledger } from "../ledger/ledger.ts";
import { type Settlement, settleTransaction } from "../ledger/settle-transaction.ts";
import { referenceOf, type Transaction } from "../ledger/transaction.ts";
import { type Deadline, deadlineWithin } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import { REFUND_MS_MAX } from "../platform/time-budgets.ts";

const ABANDONED: Settlement = { status: "failed", failure: { code: "provider_timeout" } };

/**
 * Refunds one after the other while there is time; the next run begins with others. A refund that cannot be written may
 * take seconds: of its account no other check is tried in this run, so that those of other accounts have their turn.
 */
export const refundAbandonedChecks = async (
  ledger: Ledger,
  checks: readonly Transaction[],
  hasTime: () => boolean,
  deadline: Deadline,
): Promise<number> => {
  let refunded = 0;
  const notWritten = new Set<string>();
  for (const check of checks) {
    if (!hasTime()) break;
    if (notWritten.has(check.account_id)) continue;
    try {
      const checkDeadline = deadlineWithin(deadline, REFUND_MS_MAX);
      const { kind } = await settleTransaction(ledger, check, ABANDONED, checkDeadline);
      if (kind === "applied") refunded += 1;
      if (kind !== "indeterminate") continue;
      notWritten.add(check.account_id);
      log.error("identity_check.not_refunded", { transaction: referenceOf(check) });
    } catch (error) {
      notWritten.add(check.account_id);
      log.error("identity_check.not_refunded", { transaction: referenceOf(check), ...errorFields(error) });
    }
  }
  return refunded;
};
