import { createHash } from "node:crypto";
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  ResourceNotFoundException,
} from "@aws-sdk/client-dynamodb";
import { SettingsError } from "../../infra/settings-error.ts";
import { type TableIndex, type TableShape, tables } from "../../infra/tables.ts";
import { localClient } from "./local-aws.ts";

export type TableNames = Readonly<Record<keyof typeof tables, string>>;

const namesWith = (prefix: string): TableNames => ({
  access: `${prefix}-access`,
  ledger: `${prefix}-ledger`,
  audit: `${prefix}-audit`,
  cache: `${prefix}-cache`,
});

export const localTableNames = namesWith("local");

/**
 * The names in a DynamoDB that runs already, which other data directories may use too: a ledger that was written with
 * another reference key takes no orders (shared/ledger/reference-key.ts).
 */
export const tableNamesOf = (referenceKey: string): TableNames =>
  namesWith(`local-${createHash("sha256").update(referenceKey).digest("hex").slice(0, 12)}`);

/**
 * Creates the missing tables of infra/tables.ts, without time to live: emulators do not delete expired items reliably,
 * and expiry is checked on read anyway.
 */
export const createTables = (endpoint: string, names: TableNames = localTableNames): Promise<void> =>
  withClient(endpoint, async (client) => {
    const { access, ledger, audit, cache } = tables;
    await Promise.all([
      createTable(client, names.access, access),
      createTable(client, names.ledger, ledger),
      createTable(client, names.audit, audit),
      createTable(client, names.cache, cache),
    ]);
  });

/** Drops the cache, whose content came from another upstream. */
export const dropCacheTable = (endpoint: string, { cache }: TableNames): Promise<void> =>
  withClient(endpoint, async (client) => {
    try {
      await client.send(new DeleteTableCommand({ TableName: cache }));
    } catch (error) {
      if (!(error instanceof ResourceNotFoundException)) throw error;
    }
  });

const withClient = async (endpoint: string, work: (client: DynamoDBClient) => Promise<void>): Promise<void> => {
  const client = new DynamoDBClient(localClient(endpoint));
  try {
    await work(client);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ECONNREFUSED") {
      throw new SettingsError(`Nothing answers at DYNAMODB_ENDPOINT ${endpoint}.`, { cause: error });
    }
    throw error;
  } finally {
    client.destroy();
  }
};

const createTable = async (client: DynamoDBClient, name: string, shape: TableShape): Promise<void> => {
  try {
    await client.send(new CreateTableCommand(tableDefinition(name, shape)));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
    await requireShape(client, name, shape);
  }
};

/**
 * Fails now if a table of an earlier version lacks an index, an attribute of one or its stream, instead of at the first
 * request that needs it.
 */
const requireShape = async (client: DynamoDBClient, name: string, shape: TableShape): Promise<void> => {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
  const present = new Map(Table?.GlobalSecondaryIndexes?.map((index) => [index.IndexName, index.Projection]));
  const isPresent = ({ name: index, includes = [] }: TableIndex): boolean => {
    const has = new Set(present.get(index)?.NonKeyAttributes);
    return present.has(index) && includes.every((attribute) => has.has(attribute));
  };
  const hasStream = Table?.StreamSpecification?.StreamEnabled === true;
  if (!shape.indexes.every(isPresent) || (shape.stream && !hasStream)) {
    throw new SettingsError(
      `The table ${name} was created by another version, or while the disk was full: npm start -- --fresh deletes the local data, and starts with none.`,
    );
  }
};

/** The command input that creates a table. */
export const tableDefinition = (
  name: string,
  { partition, sort, indexes, stream }: TableShape,
): CreateTableCommandInput => {
  const attributes = new Set([
    ...keysOf({ partition, ...(sort && { sort }) }),
    ...indexes.flatMap((index) => keysOf(index)),
  ]);
  return {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [...attributes].map((attribute) => ({ AttributeName: attribute, AttributeType: "S" })),
    KeySchema: keySchema({ partition, ...(sort && { sort }) }),
    ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes.map(indexDefinition) }),
    ...(stream && { StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" } }),
  };
};

type Keys = Pick<TableIndex, "partition" | "sort">;
const keysOf = ({ partition, sort }: Keys) => (sort === undefined ? [partition] : [partition, sort]);

const keySchema = ({ partition, sort }: Keys) => [
  { AttributeName: partition, KeyType: "HASH" as const },
  ...(sort === undefined ? [] : [{ AttributeName: sort, KeyType: "RANGE" as const }]),
];

const indexDefinition = ({ name, includes, ...keys }: TableIndex) => ({
  IndexName: name,
  KeySchema: keySchema(keys),
  Projection: includes
    ? { ProjectionType: "INCLUDE" as const, NonKeyAttributes: [...includes] }
    : { ProjectionType: "KEYS_ONLY" as const },
});
