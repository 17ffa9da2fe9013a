import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestDynamoDb } from "./test-dynamodb.ts";

/**
 * The DynamoDB emulator of this process, in memory, which ends with it. A write to a table with a stream takes the longer
 * the more changes the emulator has seen, so that processes which share one slow each other down.
 */
const folder = mkdtempSync(join(tmpdir(), "tests-"));
const emulator = await startTestDynamoDb(folder);
// Only an emulator that does not start has something to read there.
rmSync(folder, { recursive: true });

export const dynamodbEndpoint = emulator.endpoint;
