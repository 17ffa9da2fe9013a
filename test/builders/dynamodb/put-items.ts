import type { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";

/** The most that TransactWriteItems takes, which bypasses the SDK (`direct-calls.ts`); BatchWriteItem takes 25, by the SDK. */
const WRITES_MAX = 100;

/** Puts items into a table as they are. */
export const putItems = async (db: DynamoDBDocument, table: string, items: readonly object[]): Promise<void> => {
  for (let start = 0; start < items.length; start += WRITES_MAX) {
    const puts = items
      .slice(start, start + WRITES_MAX)
      .map((item) => ({ Put: { TableName: table, Item: { ...item } } }));
    await db.transactWrite({ TransactItems: puts });
  }
};
