import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AttributeValue, DescribeTableCommand, DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { dynoxideBinary, startDynoxide } from "../../../tools/local/dynoxide.ts";
import type { LocalDynamoDb } from "../../../tools/local/emulator.ts";
import { localClient } from "../../../tools/local/local-aws.ts";
import { localTableNames } from "../../../tools/local/tables.ts";

const ROWS_PER_WRITE = 1_000;

/**
 * Copies the tables at an endpoint into a new emulator, with more items in the ledger. They are imported from
 * DynamoDB's export format, because 100,000 single writes would take hours.
 */
export const importTables = async (
  endpoint: string,
  ledgerItems: AsyncIterable<object>,
  folder: string,
): Promise<LocalDynamoDb> => {
  const client = new DynamoDBClient(localClient(endpoint));
  const schema: unknown[] = [];
  for (const table of Object.values(localTableNames)) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
    schema.push({ Table });
    const file = exportFile(folder, table);
    for await (const { Items = [] } of paginateScan({ client }, { TableName: table })) writeItems(file, Items);
  }
  client.destroy();
  writeFileSync(schemaFile(folder), JSON.stringify(schema));
  await writeRows(exportFile(folder, localTableNames.ledger), ledgerItems);
  runImport(folder);
  return startDynoxide({
    databaseFile: databaseFile(folder),
    pidFile: join(folder, "imported.pid"),
    logFile: join(folder, "imported.log"),
  });
};

const schemaFile = (folder: string): string => join(folder, "schema.json");
const databaseFile = (folder: string): string => join(folder, "tables.db");

/** The path of a table's items in an export to S3. */
const exportFile = (folder: string, table: string): string => {
  const data = join(folder, "export", table, "data");
  mkdirSync(data, { recursive: true });
  return join(data, "items.json");
};

/** DynamoDB JSON, one item per line. */
const writeItems = (file: string, items: readonly Record<string, AttributeValue>[]): void =>
  appendFileSync(file, items.map((Item) => `${JSON.stringify({ Item }, bytesInBase64)}\n`).join(""));

const bytesInBase64 = (_name: string, value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;

const writeRows = async (file: string, rows: AsyncIterable<object>): Promise<void> => {
  let items: Record<string, AttributeValue>[] = [];
  for await (const row of rows) {
    items.push(marshall(row, { removeUndefinedValues: true }));
    if (items.length < ROWS_PER_WRITE) continue;
    writeItems(file, items);
    items = [];
  }
  writeItems(file, items);
};

const runImport = (folder: string): void => {
  const args = ["import", "--source", join(folder, "export"), "--schema", schemaFile(folder)];
  const { status, stderr } = spawnSync(dynoxideBinary(), [...args, "--output", databaseFile(folder)], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`The import into dynoxide has failed: ${stderr}`);
};
