import type { Kobo } from "../contract/values/money.ts";
import { OperatorError } from "../platform/operator-error.ts";
import type { AuditPut } from "./audit.ts";
import type { Ledger } from "./ledger.ts";
import { walletPk } from "./schema.ts";
import { transactUnlessRefused } from "./transact.ts";
import { setParts, type UpdateParts, updateOf } from "./update-parts.ts";
import { closedError, readWallet } from "./wallet.ts";

/**
 * Sets or removes the balance below which the caller counts it as low, with its audit entry. Leaves `version` and
 * `updated_at`, because the balance does not change. Refused for a closed account, also for one that closes at this moment.
 * `before`: the threshold that the person saw, 0 for none. Another one is not replaced, and is accepted if it is the wanted
 * one: the person lost the answer and repeats the request.
 */
export const setLowBalanceThreshold = async (
  ledger: Ledger,
  accountId: string,
  threshold: Kobo | undefined,
  audit: AuditPut,
  before?: number,
): Promise<void> => {
  const name = "low_balance_threshold_kobo";
  const update = updateOf(
    setParts({ [name]: threshold }, threshold === undefined ? [name] : []),
    { conditions: ["attribute_exists(pk)", "attribute_not_exists(closed)"] },
    isStill(before),
  );
  const Update = { TableName: ledger.table, Key: { pk: walletPk(accountId) }, ...update };
  if (await transactUnlessRefused(ledger, [{ Update }, audit])) return;
  const { closed, low_balance_threshold_kobo } = await readWallet(ledger, accountId);
  if (closed === true) throw closedError(accountId);
  if (low_balance_threshold_kobo === threshold) return;
  throw new OperatorError("Another person has changed the threshold. Check it and try again");
};

const isStill = (before: number | undefined): UpdateParts => {
  if (before === undefined) return {};
  return before === 0
    ? { conditions: ["attribute_not_exists(low_balance_threshold_kobo)"] }
    : { conditions: ["low_balance_threshold_kobo = :before"], values: { ":before": before } };
};
