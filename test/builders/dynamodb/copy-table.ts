import { randomUUID } from "node:crypto";
import { CreateTableCommand } from "@aws-sdk/client-dynamodb";
import { type DynamoDBDocument, paginateScan } from "@aws-sdk/lib-dynamodb";
import { tables } from "../../../infra/tables.ts";
import { tableDefinition } from "../../../tools/local/tables.ts";

/** Copies a table into a new one, as a restore to this moment does. Resolves with the new name. */
export const copyTable = async (db: DynamoDBDocument, shape: keyof typeof tables, from: string): Promise<string> => {
  const name = `${shape}-restored-${randomUUID().slice(0, 8)}`;
  await db.send(new CreateTableCommand(tableDefinition(name, tables[shape])));
  for await (const { Items = [] } of paginateScan({ client: db }, { TableName: from, ConsistentRead: true })) {
    await Promise.all(Items.map((Item) => db.put({ TableName: name, Item })));
  }
  return name;
};
