import type { Kobo } from "../contract/money.ts";
import type { AuditPut } from "./audit.ts";
import type { Ledger } from "./ledger.ts";
import { walletPk } from "./schema.ts";
import { transactWithRetry } from "./transact.ts";

/**
 * Sets or removes the balance below which the caller counts it as low, with its audit entry. Leaves `version` and
 * `updated_at`, because the balance does not change.
 */
export const setLowBalanceThreshold = (
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
  const wallet = { TableName: table, Key: { pk: walletPk(accountId) }, ConditionExpression: "attribute_exists(pk)" };
  return transactWithRetry(ledger, [{ Update: { ...wallet, ...change } }, audit]);
};
