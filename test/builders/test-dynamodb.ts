import { join } from "node:path";
import { type LocalDynamoDb, startDynoxide, startEmulator } from "../../tools/local/dynamodb.ts";

/** The folder of DynamoDB Local's libraries: if it is set, the tests run on DynamoDB Local instead of dynoxide. */
export const DYNAMODB_LOCAL = "DYNAMODB_LOCAL";

const MAIN = "com.amazonaws.services.dynamodbv2.local.main.ServerRunner";

/** Starts the DynamoDB emulator that the tests run on, in memory; `folder` takes its log. */
export const startTestDynamoDb = (folder: string): Promise<LocalDynamoDb> => {
  const libraries = process.env[DYNAMODB_LOCAL];
  const files = { pidFile: join(folder, "dynamodb.pid"), logFile: join(folder, "dynamodb.log") };
  if (libraries === undefined) return startDynoxide(files);
  const java = [`-Djava.library.path=${libraries}`, "-cp", join(libraries, "*"), MAIN];
  return startEmulator({
    name: "DynamoDB Local",
    program: "java",
    args: (port) => [...java, "-inMemory", "-disableTelemetry", "-port", String(port)],
    files,
  });
};
