import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { startTestDynamoDb } from "./test-dynamodb.ts";

/**
 * The DynamoDB emulator of one test file, in memory. A write to a table with a stream takes the longer the more changes
 * the emulator has seen, so that files which share one slow each other down.
 */
const folder = mkdtempSync(join(tmpdir(), "tests-"));
const emulator = await startTestDynamoDb(folder);
afterAll(async () => {
  await emulator.stop();
  rmSync(folder, { recursive: true, force: true });
});

export const dynamodbEndpoint = emulator.endpoint;
