import { randomUUID } from "node:crypto";
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { inject } from "vitest";
import { type TableShape, tables } from "../../infra/tables.ts";

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
    await db.send(new CreateTableCommand(tableInput(table, tables[name])));
    return table;
  };
  return {
    db,
    accessTable: await create("access"),
    ledgerTable: await create("ledger"),
    cacheTable: await create("cache"),
  };
};

const tableInput = (table: string, shape: TableShape) => {
  const attributes = new Set([
    shape.partition,
    ...shape.indexes.flatMap(({ partition, sort }) => (sort ? [partition, sort] : [partition])),
  ]);
  return {
    TableName: table,
    BillingMode: "PAY_PER_REQUEST" as const,
    AttributeDefinitions: [...attributes].map((name) => ({ AttributeName: name, AttributeType: "S" as const })),
    KeySchema: [{ AttributeName: shape.partition, KeyType: "HASH" as const }],
    ...(shape.indexes.length > 0 && {
      GlobalSecondaryIndexes: shape.indexes.map(({ name, partition, sort, includes }) => ({
        IndexName: name,
        KeySchema: [
          { AttributeName: partition, KeyType: "HASH" as const },
          ...(sort ? [{ AttributeName: sort, KeyType: "RANGE" as const }] : []),
        ],
        Projection: includes
          ? { ProjectionType: "INCLUDE" as const, NonKeyAttributes: [...includes] }
          : { ProjectionType: "KEYS_ONLY" as const },
      })),
    }),
    ...(shape.stream && {
      StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" as const },
    }),
  };
};
