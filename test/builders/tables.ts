import { randomUUID } from "node:crypto";
import { CreateTableCommand } from "@aws-sdk/client-dynamodb";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { tables } from "../../infra/tables.ts";
import { tableDefinition } from "../../tools/local/tables.ts";
import { dynamodbEndpoint } from "./emulator.ts";
import { emulatorClientAt } from "./emulator-client.ts";

/** A client of the tests' emulator, or of something that stands before one. */
export const emulatorClient = (endpoint: string = dynamodbEndpoint): DynamoDBDocumentClient =>
  emulatorClientAt(endpoint);

/** The three tables under names of their own. */
export const freshTables = async (db: DynamoDBDocumentClient = emulatorClient()) => {
  const run = randomUUID().slice(0, 8);
  const create = async (name: keyof typeof tables): Promise<string> => {
    const table = `${name}-${run}`;
    await db.send(new CreateTableCommand(tableDefinition(table, tables[name])));
    return table;
  };
  return {
    db,
    accessTable: await create("access"),
    ledgerTable: await create("ledger"),
    cacheTable: await create("cache"),
  };
};
