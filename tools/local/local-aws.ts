/** The made-up region, account and credentials of the AWS emulators on this machine. */
export const REGION = "us-east-1";
export const ACCOUNT_ID = "000000000000";
/** The key that hashes the numbers of identity checks. */
export const IDENTITY_KEY_ARN = `arn:aws:kms:${REGION}:${ACCOUNT_ID}:key/mrk-local`;
export const credentials = { accessKeyId: "local", secretAccessKey: "local" };

/** Settings of an SDK client of an emulator. */
export const localClient = (endpoint: string) => ({ endpoint, region: REGION, credentials });

/**
 * The same for one that polls: a call without an answer in this time fails, and is not sent again by itself. The loop
 * that made it logs the failure and continues; otherwise one lost answer would end it for good.
 */
export const pollingClient = (endpoint: string, answerMs: number) => ({
  ...localClient(endpoint),
  maxAttempts: 1,
  requestHandler: { requestTimeout: answerMs, socketTimeout: answerMs, throwOnRequestTimeout: true },
});

/** The environment in which SDK clients use the emulators, regardless of the user's own AWS settings. */
export const localAwsEnvironment = (endpoints: { dynamodb: string; sqs: string; secretsManager: string }) => ({
  ...Object.fromEntries(usersOwn().map((name) => [name, undefined])),
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
  // One server has both.
  AWS_ENDPOINT_URL_SQS: endpoints.sqs,
  AWS_ENDPOINT_URL_SNS: endpoints.sqs,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoints.secretsManager,
  // The same server: each request names its service.
  AWS_ENDPOINT_URL_KMS: endpoints.secretsManager,
});

/** The service's own, and the one by which tests name the stage of its metrics. */
const NOT_THE_USERS = ["AWS_CALLS", "AWS_LAMBDA_FUNCTION_NAME"];
const usersOwn = (): readonly string[] =>
  Object.keys(process.env).filter((name) => name.startsWith("AWS_") && !NOT_THE_USERS.includes(name));

/** Sets environment variables; undefined removes one. Returns what restores them. */
export const setEnvironment = (values: Readonly<Record<string, string | undefined>>): (() => void) => {
  const previous = Object.keys(values).map((name): [string, string | undefined] => [name, process.env[name]]);
  const apply = ([name, value]: [string, string | undefined]): void => {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };
  for (const entry of Object.entries(values)) apply(entry);
  return () => {
    for (const entry of previous) apply(entry);
  };
};
