import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { localClient } from "../../tools/local/local-aws.ts";

/** A client of the emulator at this address, or of something that stands before it. */
export const emulatorClientAt = (endpoint: string): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(new DynamoDBClient({ ...localClient(endpoint), maxAttempts: 2 }), {
    marshallOptions: { removeUndefinedValues: true },
  });
