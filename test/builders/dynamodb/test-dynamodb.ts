import { join } from "node:path";
import { startDynamoDbLocal } from "../../../tools/local/dynamodb-local.ts";
import type { LocalDynamoDb } from "../../../tools/local/emulator.ts";
import { startDynamoDb } from "../../../tools/local/start-dynamodb.ts";

/** The folder of DynamoDB Local's libraries: if it is set, the tests run on DynamoDB Local instead of dynoxide. */
export const DYNAMODB_LOCAL = "DYNAMODB_LOCAL";

/** Starts the DynamoDB emulator that the tests run on, in memory; `folder` takes its log. */
export const startTestDynamoDb = (folder: string): Promise<LocalDynamoDb> => {
  const jars = process.env[DYNAMODB_LOCAL];
  const files = { pidFile: join(folder, "dynamodb.pid"), logFile: join(folder, "dynamodb.log") };
  return jars === undefined ? startDynamoDb({ files }) : startDynamoDbLocal({ jars, files });
};
