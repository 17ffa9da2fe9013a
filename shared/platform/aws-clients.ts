import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type * as z from "zod";
import { withShortPath } from "./dynamodb/short-path.ts";
import { environment, readEnv } from "./env.ts";
import { AWS_ATTEMPTS_MAX, AWS_CONNECT_MS_MAX, AWS_RESPONSE_MS_MAX } from "./time-budgets.ts";

/** A call that hangs must not use up the time that its request needs for a response. */
const timeouts = {
  maxAttempts: AWS_ATTEMPTS_MAX,
  requestHandler: {
    connectionTimeout: AWS_CONNECT_MS_MAX,
    // Ends with the response's headers; `socketTimeout` ends a body that does not come.
    requestTimeout: AWS_RESPONSE_MS_MAX,
    socketTimeout: AWS_RESPONSE_MS_MAX,
    throwOnRequestTimeout: true,
  },
} as const;

/** `calls`: as in the process's own environment, unless the setting of another service counts. */
export const documentClient = (
  calls: z.output<typeof environment>["AWS_CALLS"] = readEnv(environment.pick({ AWS_CALLS: true })).AWS_CALLS,
): DynamoDBDocumentClient => {
  const marshallOptions = { removeUndefinedValues: true };
  const db = DynamoDBDocumentClient.from(new DynamoDBClient(timeouts), { marshallOptions });
  return calls === "sdk" ? db : withShortPath(db);
};

/** The region's endpoint is used rather than the queue's URL, whose host an emulator cannot always resolve. */
export const sqsClient = (): SQSClient => new SQSClient({ ...timeouts, useQueueUrlAsEndpoint: false });

export const secretsClient = (): SecretsManagerClient => new SecretsManagerClient(timeouts);
