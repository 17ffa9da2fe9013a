import type { Kobo } from "../platform/money.ts";
import { type AuditEntry, auditPut } from "./audit.ts";
import { type Ledger, transactWithRetry } from "./transact.ts";
import { walletPk } from "./wallet.ts";

/**
 * Sets the balance that the app sees as low, or takes it away; the operator's act goes with it. The balance did not change, and so
 * neither do its version and its time.
 */
export const setLowBalanceThreshold = (
  ledger: Ledger,
  accountId: string,
  threshold: Kobo | undefined,
  act: AuditEntry,
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
  return transactWithRetry(ledger, [{ Update: { ...wallet, ...change } }, auditPut(table, act)]);
};
