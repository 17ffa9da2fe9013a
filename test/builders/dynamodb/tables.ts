import { randomUUID } from "node:crypto";
import { CreateTableCommand, UpdateTableCommand } from "@aws-sdk/client-dynamodb";
import type { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { type TableShape, tables } from "../../../infra/tables.ts";
import { tableDefinition } from "../../../tools/local/tables.ts";
import { forwardTo } from "../../strict/wire.ts";
import { withDirectCalls } from "../aws/direct-calls.ts";
import { checksumKey } from "../ledger/secrets.ts";
import { dynamodbEndpoint } from "./emulator.ts";
import { emulatorClientAt } from "./emulator-client.ts";

const { forward } = forwardTo(dynamodbEndpoint);

/** A client of the tests' emulator, or of something that stands before one. */
export const emulatorClient = (endpoint: string = dynamodbEndpoint): DynamoDBDocument =>
  endpoint === dynamodbEndpoint ? withDirectCalls(emulatorClientAt(endpoint), forward) : emulatorClientAt(endpoint);

/**
 * The tables under names of their own, and the key of their API keys' checksums. The tables have no streams: the more
 * records the emulator's streams hold, the longer each write to a table with one takes.
 */
export const freshTables = async (db: DynamoDBDocument = emulatorClient()) => {
  const run = randomUUID().slice(0, 8);
  const create = async (name: keyof typeof tables): Promise<string> => {
    const table = `${name}-${run}`;
    const { stream: _stream, ...shape }: TableShape = tables[name];
    await db.send(new CreateTableCommand(tableDefinition(table, shape)));
    return table;
  };
  return {
    db,
    accessTable: await create("access"),
    ledgerTable: await create("ledger"),
    auditTable: await create("audit"),
    cacheTable: await create("cache"),
    checksumKey,
  };
};

/** Gives a table the stream that it has in a stage. */
export const addStream = async (db: DynamoDBDocument, TableName: string): Promise<void> => {
  const StreamSpecification = { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" } as const;
  await db.send(new UpdateTableCommand({ TableName, StreamSpecification }));
};
