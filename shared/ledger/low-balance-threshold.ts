import type { Kobo } from "../contract/money.ts";
import type { AuditPut } from "./audit.ts";
import type { Ledger } from "./ledger.ts";
import { walletPk } from "./schema.ts";
import { transactUnlessRefused } from "./transact.ts";
import { closedError, readWallet } from "./wallet.ts";

/**
 * Sets or removes the balance below which the caller counts it as low, with its audit entry. Leaves `version` and
 * `updated_at`, because the balance does not change. Refused for a closed account, also for one that closes at this moment.
 */
export const setLowBalanceThreshold = async (
  ledger: Ledger,
  accountId: string,
  threshold: Kobo | undefined,
  audit: AuditPut,
): Promise<void> => {
  const { table } = ledger;
  const change =
    threshold === undefined
      ? { UpdateExpression: "REMOVE low_balance_threshold_kobo" }
      : {
          UpdateExpression: "SET low_balance_threshold_kobo = :threshold",
          ExpressionAttributeValues: { ":threshold": threshold },
        };
  const Update = {
    TableName: table,
    Key: { pk: walletPk(accountId) },
    ConditionExpression: "attribute_exists(pk) AND attribute_not_exists(closed)",
    ...change,
  };
  if (await transactUnlessRefused(ledger, [{ Update }, audit])) return;
  await readWallet(ledger, accountId);
  throw closedError(accountId);
};
