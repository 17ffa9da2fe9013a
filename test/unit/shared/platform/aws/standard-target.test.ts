import { expect, test } from "vitest";
import { CallHandler } from "../../../../../shared/platform/aws/call-handler.ts";
import { openDynamoDb, openKms, openSecretsManager, openSqs } from "../../../../../shared/platform/aws/sdk.ts";
import { dynamoDb, kms, secretsManager, sqs } from "../../../../../shared/platform/aws/services.ts";
import { standardTarget } from "../../../../../shared/platform/aws/standard-target.ts";
import { setEnvironment } from "../../../../../tools/local/local-aws.ts";

/** As on Lambda, without emulators and without what the shell has. */
const onLambda = {
  ...Object.fromEntries(
    Object.keys(process.env).flatMap((name) => (name.startsWith("AWS_") ? [[name, undefined]] : [])),
  ),
  AWS_LAMBDA_FUNCTION_NAME: "purchase",
  AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
  AWS_XRAY_CONTEXT_MISSING: "LOG_ERROR",
  AWS_ACCESS_KEY: "AKIA",
  AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
  AWS_REGION: "eu-west-1",
  AWS_ACCESS_KEY_ID: "AKIA",
  AWS_SECRET_ACCESS_KEY: "secret",
  AWS_SESSION_TOKEN: "token",
  AWS_CONFIG_FILE: undefined,
};

class Stop extends Error {}

/** Where the SDK sends a call of each service. */
const sdkEndpoints = async (): Promise<readonly string[]> => {
  const sentTo: string[] = [];
  class Recorder extends CallHandler {
    override async handle({ protocol, hostname, port, path }: Parameters<CallHandler["handle"]>[0]): Promise<never> {
      sentTo.push(`${protocol}//${hostname}${port === undefined ? "" : `:${port}`}${path}`);
      throw new Stop();
    }
  }
  const handler = new Recorder();
  for (const call of [
    () => openDynamoDb(handler).get({ TableName: "t", Key: {} }),
    () => openSecretsManager(handler).getSecretValue({ SecretId: "s" }),
    () => openSqs(handler).sendMessage({ QueueUrl: "https://queue.test/1/outcomes", MessageBody: "" }),
    () => openKms(handler).generateMac({ KeyId: "k", Message: Uint8Array.of(1), MacAlgorithm: "HMAC_SHA_256" }),
  ]) {
    await expect(call()).rejects.toThrow(Stop);
  }
  return sentTo;
};

const targets = () => [dynamoDb, secretsManager, sqs, kms].map((service) => standardTarget(service)?.endpoint.href);

const overrides = Object.fromEntries(
  ["DYNAMODB", "SECRETS_MANAGER", "SQS", "KMS"].map((name) => [
    `AWS_ENDPOINT_URL_${name}`,
    "https://vpce.example:8443",
  ]),
);

test.each([
  ["a region", {}],
  ["another region", { AWS_REGION: "ap-southeast-4" }],
  ["endpoints of their own", overrides],
])("the short path sends to the SDK's endpoints with %s", async (_case, changes) => {
  const restore = setEnvironment({ ...onLambda, ...changes });
  try {
    expect(targets()).toEqual(await sdkEndpoints());
  } finally {
    restore();
  }
});

test.each([
  ["FIPS endpoints", { AWS_USE_FIPS_ENDPOINT: "true" }],
  ["dual-stack endpoints", { AWS_USE_DUALSTACK_ENDPOINT: "true" }],
  ["endpoints of the account", { AWS_ACCOUNT_ID: "123456789012" }],
  ["one endpoint for all services", { AWS_ENDPOINT_URL: "https://vpce.example" }],
  ["endpoints with a path", { ...overrides, AWS_ENDPOINT_URL_DYNAMODB: "https://vpce.example/path" }],
  ["China", { AWS_REGION: "cn-north-1" }],
  ["GovCloud", { AWS_REGION: "us-gov-west-1" }],
  ["the European Sovereign Cloud", { AWS_REGION: "eusc-de-east-1" }],
  ["credentials that are not in the environment", { AWS_SECRET_ACCESS_KEY: undefined }],
  ["a profile", { AWS_PROFILE: "ada" }],
  ["a retry mode", { AWS_RETRY_MODE: "adaptive" }],
  ["a process that is no function", { AWS_LAMBDA_FUNCTION_NAME: undefined }],
])("the SDK sends the calls with %s", (_case, changes) => {
  const restore = setEnvironment({ ...onLambda, ...changes });
  try {
    expect(standardTarget(dynamoDb)).toBeUndefined();
  } finally {
    restore();
  }
});
