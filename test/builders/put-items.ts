import type { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";

/** The most that BatchWriteItem takes. */
const BATCH_WRITES_MAX = 25;

/** Puts items into a table as they are. */
export const putItems = async (db: DynamoDBDocument, table: string, items: readonly object[]): Promise<void> => {
  for (let start = 0; start < items.length; start += BATCH_WRITES_MAX) {
    const puts = items.slice(start, start + BATCH_WRITES_MAX).map((item) => ({ PutRequest: { Item: { ...item } } }));
    await db.batchWrite({ RequestItems: { [table]: puts } });
  }
};
