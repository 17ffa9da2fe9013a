import { type Transaction, transactionSchema } from "../../shared/ledger/transaction.ts";
import type { System } from "./system/system.ts";

/**
 * The live transactions that are `processing` and listed until then, oldest first, as the table has them.
 * `openTransactions` asks 32 partitions of the index, which was a quarter of all calls of these tests; the invariants
 * compare it with the table.
 */
export const openInTable = async ({ db, ledger }: System, until = "9999"): Promise<readonly Transaction[]> => {
  const found: Transaction[] = [];
  let ExclusiveStartKey: Readonly<Record<string, unknown>> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await db.scan({
      TableName: ledger.table,
      FilterExpression: "begins_with(#open, :live) AND listed_at <= :until",
      ExpressionAttributeNames: { "#open": "open" },
      ExpressionAttributeValues: { ":live": "live#", ":until": until },
      ConsistentRead: true,
      ExclusiveStartKey,
    });
    found.push(...Items.map((item) => transactionSchema.parse(item)));
    ExclusiveStartKey = LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
  return found
    .filter(({ status }) => status === "processing")
    .toSorted((one, other) => ((one.listed_at ?? "") < (other.listed_at ?? "") ? -1 : 1));
};
