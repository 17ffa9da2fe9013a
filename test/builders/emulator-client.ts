import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

const emulatorCredentials = { accessKeyId: "local", secretAccessKey: "local" };

/** A client of the emulator at this address, or of something that stands before it. */
export const emulatorClientAt = (endpoint: string): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(
    new DynamoDBClient({ endpoint, region: "us-east-1", credentials: emulatorCredentials, maxAttempts: 2 }),
    { marshallOptions: { removeUndefinedValues: true } },
  );
