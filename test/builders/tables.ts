import { randomUUID } from "node:crypto";
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { inject } from "vitest";
import { tableDefinition } from "../../infra/local/tables.ts";
import { tables } from "../../infra/tables.ts";

const emulatorCredentials = { accessKeyId: "local", secretAccessKey: "local" };

/** A client of the emulator, or of something that stands before it. */
export const emulatorClient = (endpoint: string = inject("dynamodbEndpoint")): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(
    new DynamoDBClient({ endpoint, region: "us-east-1", credentials: emulatorCredentials, maxAttempts: 2 }),
    { marshallOptions: { removeUndefinedValues: true } },
  );

/** The three tables under names of their own. */
export const freshTables = async () => {
  const db = emulatorClient();
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
