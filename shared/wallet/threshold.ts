import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { Kobo } from "../platform/money.ts";
import { type AuditRow, auditPut } from "./audit.ts";
import { collisionOf, type Ledger, waitForTurn } from "./ledger.ts";
import { walletPk } from "./wallet.ts";

const SETTING_ROUNDS_MAX = 8;

/**
 * Sets the balance that the app sees as low, or takes it away; the operator's act goes with it. The balance did not change, and so
 * neither do its version and its time.
 */
export const setLowBalanceThreshold = async (
  { db, table }: Ledger,
  accountId: string,
  threshold: Kobo | undefined,
  act: AuditRow,
): Promise<void> => {
  const change =
    threshold === undefined
      ? { UpdateExpression: "REMOVE low_balance_threshold_kobo" }
      : {
          UpdateExpression: "SET low_balance_threshold_kobo = :threshold",
          ExpressionAttributeValues: { ":threshold": threshold },
        };
  const Update = { TableName: table, Key: { pk: walletPk(accountId) }, ConditionExpression: "attribute_exists(pk)" };
  for (let round = 0; ; round += 1) {
    try {
      const TransactItems = [{ Update: { ...Update, ...change } }, auditPut(table, act)];
      await db.send(new TransactWriteCommand({ TransactItems }));
      return;
    } catch (error) {
      // Purchases hold the wallet's item for moments.
      if (collisionOf(error).kind !== "conflict" || round === SETTING_ROUNDS_MAX) throw error;
      await waitForTurn(round);
    }
  }
};
