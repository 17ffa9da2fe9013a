import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { signIn } from "../../../../tools/aws/sign-in.ts";
import { FAKE_ACCOUNT, FAKE_ARN, MFA_CONFIG, startFakeAws } from "../../../builders/aws/fake-aws.ts";

/** Goal: credentials are found as the AWS CLI and the CDK find them, and what a provider says reaches the operator. */
const aws = await startFakeAws();
afterAll(() => aws.stop());

const keys = { AWS_ACCESS_KEY_ID: "AKIAENV", AWS_SECRET_ACCESS_KEY: "env" };
const place = { stage: "prod", account: FAKE_ACCOUNT, region: "eu-west-1" };
beforeEach(() => aws.enter());

const refusal = (...args: Parameters<typeof signIn>): Promise<string> =>
  signIn(...args).then(
    (arn) => `not refused: ${arn}`,
    (error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error)),
  );
const chosen = () => {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE, AWS_REGION } = process.env;
  return { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE, AWS_REGION };
};

const PROCESS = `[profile tool]
region = eu-west-1
credential_process = echo '{"Version":1,"AccessKeyId":"AKIATOOL","SecretAccessKey":"tool"}'
`;
const SSO_PROFILE = `[profile ada]
sso_start_url = https://corp.awsapps.com/start
sso_region = us-west-2
sso_account_id = ${FAKE_ACCOUNT}
sso_role_name = admin
`;
const SSO_SESSION = `[profile ada]
sso_session = corp
sso_account_id = ${FAKE_ACCOUNT}
sso_role_name = admin
[sso-session corp]
sso_start_url = https://corp.awsapps.com/start
sso_region = us-west-2
`;

test.each([
  ["AWS_REGION", { AWS_REGION: "eu-west-1", AWS_DEFAULT_REGION: "us-east-1" }],
  ["AWS_DEFAULT_REGION, which the SDK itself ignores", { AWS_DEFAULT_REGION: "eu-west-1" }],
  ["the stage, where none is set", {}],
])("the region comes from %s", async (_source, environment) => {
  aws.enter({ ...keys, ...environment });
  expect(await signIn(place, {})).toBe(FAKE_ARN);
  expect(chosen().AWS_REGION).toBe("eu-west-1");
});

test("the region comes from the profile", async () => {
  aws.writeConfig(PROCESS);
  await signIn({ stage: "sandbox" }, { profile: "tool" });
  expect(chosen().AWS_REGION).toBe("eu-west-1");
});

test("another region than the stage's is refused before any request to AWS", async () => {
  aws.enter({ ...keys, AWS_DEFAULT_REGION: "us-east-1" });
  expect(await refusal(place, {})).toBe(
    'SettingsError: Stage "prod" belongs to AWS region eu-west-1 (stages.ts), but yours is us-east-1. Set AWS_REGION=eu-west-1. Nothing was changed.',
  );
  expect(aws.requests).toEqual([]);
});

test("no region at all is refused for a stage that names none", async () => {
  aws.enter(keys);
  expect(await refusal({ stage: "sandbox" }, {})).toContain("There is no AWS region. Set AWS_REGION, or a region in");
});

describe("the account", () => {
  test("credentials of another account than the stage's are refused", async () => {
    aws.enter(keys);
    expect(await refusal({ ...place, account: "999900001111" }, {})).toBe(
      `SettingsError: Stage "prod" belongs to AWS account 999900001111 (stages.ts), but these credentials are of ${FAKE_ACCOUNT}: ${FAKE_ARN}. Nothing was changed.`,
    );
  });

  test("the placeholder of the committed settings is refused before credentials are looked for", async () => {
    expect(await refusal({ ...place, account: "000000000000" }, {})).toBe(
      'SettingsError: Stage "prod" has the placeholder 000000000000 as its account. Set its account and region in stages.ts first.',
    );
  });

  test("a stage without an account accepts every account", async () => {
    aws.enter({ ...keys, AWS_REGION: "us-east-1" });
    expect(await signIn({ stage: "sandbox" }, {})).toBe(FAKE_ARN);
  });
});

describe("the source of the credentials", () => {
  const keyOfLastRequest = async (): Promise<string | undefined> => {
    await signIn(place, {});
    return chosen().AWS_PROFILE ?? chosen().AWS_ACCESS_KEY_ID;
  };

  test("keys in the environment win over AWS_PROFILE, as in the AWS CLI and the CDK", async () => {
    aws.enter({ ...keys, AWS_PROFILE: "tool" });
    expect(await keyOfLastRequest()).toBe("AKIAENV");
  });

  test("--profile wins over keys in the environment", async () => {
    aws.enter(keys);
    aws.writeConfig(PROCESS);
    await signIn(place, { profile: "tool" });
    expect(chosen()).toMatchObject({ AWS_PROFILE: "tool", AWS_ACCESS_KEY_ID: undefined });
  });

  test("credentials of a credential_process are left to it, which renews them", async () => {
    aws.enter({ AWS_PROFILE: "tool" });
    aws.writeConfig(PROCESS);
    expect(await keyOfLastRequest()).toBe("tool");
    expect(chosen().AWS_ACCESS_KEY_ID).toBeUndefined();
  });

  test("the token of an OIDC provider is exchanged for a role, as in CI", async () => {
    aws.enter({ AWS_ROLE_ARN: `arn:aws:iam::${FAKE_ACCOUNT}:role/ci`, AWS_ROLE_SESSION_NAME: "ci" });
    const file = join(aws.home, "token");
    writeFileSync(file, "oidc-token");
    process.env.AWS_WEB_IDENTITY_TOKEN_FILE = file;
    expect(await signIn(place, {})).toBe(FAKE_ARN);
    expect(aws.requests).toMatchObject([
      { Action: "AssumeRoleWithWebIdentity", WebIdentityToken: "oidc-token" },
      { Action: "GetCallerIdentity" },
    ]);
  });

  test("the code of an MFA device is asked for once, and its credentials serve all clients and the CDK", async () => {
    aws.enter({ AWS_PROFILE: "admin" });
    aws.writeConfig(MFA_CONFIG);
    const asked: string[] = [];
    const askCode = (device: string): string => {
      asked.push(device);
      return "123456";
    };
    expect(await signIn(place, { askCode })).toBe(FAKE_ARN);
    expect(asked).toEqual([`arn:aws:iam::${FAKE_ACCOUNT}:mfa/ada`]);
    expect(aws.requests).toMatchObject([
      { Action: "AssumeRole", TokenCode: "123456" },
      { Action: "GetCallerIdentity" },
    ]);
    expect(chosen()).toEqual({
      AWS_ACCESS_KEY_ID: "AKIAROLE",
      AWS_SECRET_ACCESS_KEY: "role",
      AWS_SESSION_TOKEN: "token",
      AWS_PROFILE: undefined,
      AWS_REGION: "eu-west-1",
    });
  });
});

describe("credentials that cannot be obtained", () => {
  test.each([
    ["none at all", {}, "credentials. Sign in (aws sso login), set AWS_PROFILE, or add --profile."],
    [
      "those of a profile that does not exist",
      { profile: "prdo" },
      'credentials in the profile "prdo" or in its source_profile, or it is not in ~/.aws/config.',
    ],
  ])("%s", async (_which, options, sentence) => {
    expect(await refusal(place, options)).toBe(`SettingsError: There are no AWS ${sentence}`);
  });

  test.each([
    [
      "profile",
      SSO_PROFILE,
      "https://corp.awsapps.com/start",
      "The SSO session associated with this profile has expired.",
    ],
    ["sso-session", SSO_SESSION, "corp", "Cannot refresh."],
  ])("an expired session of an SSO %s is reported with the SDK's own message", async (_kind, config, name, says) => {
    aws.writeConfig(config);
    const file = `${createHash("sha1").update(name).digest("hex")}.json`;
    const expired = { accessToken: "old", expiresAt: "2026-01-01T00:00:00Z" };
    writeFileSync(join(aws.home, ".aws", "sso", "cache", file), JSON.stringify(expired));
    const message = await refusal(place, { profile: "ada" });
    expect(message).toContain("SettingsError: AWS credentials could not be obtained. CredentialsProviderError: ");
    expect(message).toContain(says);
    expect(message).toMatch(/run '?aws sso login'? with the corresponding profile\.$/);
  });

  test("a credential_process that fails is reported with its own message", async () => {
    aws.writeConfig("[profile tool]\ncredential_process = sh -c 'echo vault is sealed >&2; exit 1'\n");
    expect(await refusal(place, { profile: "tool" })).toContain("vault is sealed");
  });

  test("keys that cannot be checked, because STS does not answer, are not called wrong", async () => {
    aws.enter({ ...keys, AWS_ENDPOINT_URL_STS: "http://127.0.0.1:1" });
    expect(await refusal(place, {})).toMatch(
      /AWS STS in eu-west-1 did not answer: check the network, a proxy and AWS_REGION\. .*ECONNREFUSED/,
    );
  });

  test.each([
    [
      "ExpiredToken",
      "The security token is expired",
      "does not accept these credentials: sign in again, or renew them.",
    ],
    [
      "SignatureDoesNotMatch",
      "Signature expired: 20261130T170000Z is now earlier than 20261130T171000Z",
      "does not accept the time of this machine: set its clock.",
    ],
    [
      "SignatureDoesNotMatch",
      "Signature not yet current: 20261130T171000Z is still later than 20261130T170000Z",
      "does not accept the time of this machine: set its clock.",
    ],
    ["InternalFailure", "An error has occurred", "failed: try again later.", 500],
  ])("%s of STS is reported with its message, and what to do", async (error, message, what, status = 400) => {
    const sts = await startFakeAws(() => ({ error, message: `${message}\n`, status }));
    sts.enter(keys);
    try {
      expect(await refusal(place, {})).toBe(`SettingsError: AWS STS ${what} ${error}: ${message}`);
    } finally {
      await sts.stop();
    }
  });
});
