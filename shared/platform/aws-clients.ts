import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

/**
 * Patience with AWS, passed explicitly because the SDK's own default is to wait for ever: a call that hangs must not use up the
 * time in which its request could still be answered.
 */
const patience = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
} as const;

export const documentClient = (): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(new DynamoDBClient(patience), { marshallOptions: { removeUndefinedValues: true } });

/** The region's endpoint is used rather than the queue's URL, whose host an emulator cannot always resolve. */
export const sqsClient = (): SQSClient => new SQSClient({ ...patience, useQueueUrlAsEndpoint: false });

export const secretsClient = (): SecretsManagerClient => new SecretsManagerClient(patience);
