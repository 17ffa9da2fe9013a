import type { DocumentClient } from "../../../shared/platform/aws-clients.ts";

/** Changes attributes of an item, which need not exist, as nothing in the service does. Those that are undefined are removed. */
export const changeItem = async (
  { db, table }: { readonly db: Pick<DocumentClient, "get" | "put">; readonly table: string },
  pk: string,
  changes: object,
): Promise<void> => {
  const { Item } = await db.get({ TableName: table, Key: { pk }, ConsistentRead: true });
  await db.put({ TableName: table, Item: { ...Item, pk, ...changes } });
};
