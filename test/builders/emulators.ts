import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startTestDynamoDb } from "./test-dynamodb.ts";

declare module "vitest" {
  export interface ProvidedContext {
    dynamodbEndpoint: string;
  }
}

/**
 * Starts one DynamoDB emulator, in memory, for all test files; each file makes tables of its own. It ends with this
 * process, even if that is killed.
 */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const folder = mkdtempSync(join(tmpdir(), "tests-"));
  const emulator = await startTestDynamoDb(folder);
  project.provide("dynamodbEndpoint", emulator.endpoint);
  return async () => {
    await emulator.stop();
    rmSync(folder, { recursive: true, force: true });
  };
};
