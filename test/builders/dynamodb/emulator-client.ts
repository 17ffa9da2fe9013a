import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { documentOf } from "../../../shared/platform/aws/sdk.ts";
import { localClient } from "../../../tools/local/local-aws.ts";

/** A client of the emulator at this address, or of something that stands before it. */
export const emulatorClientAt = (endpoint: string): DynamoDBDocument =>
  documentOf(new DynamoDBClient({ ...localClient(endpoint), maxAttempts: 2 }));
