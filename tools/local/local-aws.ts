/** The region, account and credentials of the parts of AWS that run on this machine; none of them is real. */
export const REGION = "us-east-1";
export const ACCOUNT_ID = "000000000000";
const credentials = { accessKeyId: "local", secretAccessKey: "local" };

/** Settings of an SDK client that talks to a local part. */
export const localClient = (endpoint: string) => ({ endpoint, region: REGION, credentials });

/** The environment in which the functions' own SDK clients find the local parts, whatever the user's AWS settings are. */
export const localAwsEnvironment = (endpoints: { dynamodb: string; sqs: string; secretsManager: string }) => ({
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  AWS_SESSION_TOKEN: undefined,
  AWS_PROFILE: undefined,
  AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
  AWS_ENDPOINT_URL_SQS: endpoints.sqs,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoints.secretsManager,
});

/** Sets (or, where undefined, removes) environment variables. Returns what puts them back. */
export const setEnvironment = (values: Readonly<Record<string, string | undefined>>): (() => void) => {
  const before = Object.keys(values).map((name): [string, string | undefined] => [name, process.env[name]]);
  const put = ([name, value]: [string, string | undefined]): void => {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };
  for (const entry of Object.entries(values)) put(entry);
  return () => {
    for (const entry of before) put(entry);
  };
};
