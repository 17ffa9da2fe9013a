import { GetCallerIdentityCommand, STSClient, STSServiceException } from "@aws-sdk/client-sts";
import { fromIni } from "@aws-sdk/credential-provider-ini";
import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { SettingsError } from "../../infra/settings-error.ts";
import { ACCOUNT_PLACEHOLDER } from "../../infra/stage-settings.ts";
import { askMfaCode } from "./mfa-code.ts";
import { withClient } from "./with-client.ts";

/** A stage, with the AWS account and region that it belongs to; a stage for test keys need not name them. */
type StagePlace = {
  readonly stage: string;
  readonly account?: string | undefined;
  readonly region?: string | undefined;
};

export type SignInOptions = {
  /** A profile of ~/.aws/config, from the command line. */
  readonly profile?: string | undefined;
  /** Returns the code of an MFA device. */
  readonly askCode?: (device: string) => string;
};

/**
 * Finds credentials and a region, and compares them with the stage's before anything is changed. Resolves with the ARN
 * of the caller. From then on SDK clients of this process, and the CDK that it starts, use the same ones.
 */
export const signIn = async (place: StagePlace, { profile, askCode = askMfaCode }: SignInOptions): Promise<string> => {
  refusePlaceholder(place);
  chooseSource(profile);
  await chooseRegion(place);
  const { account, arn } = await callerIdentity(await resolveCredentials(askCode));
  if (place.account !== undefined && place.account !== account) {
    throw new SettingsError(
      `Stage "${place.stage}" belongs to AWS account ${place.account} (stages.ts), but these credentials are of ${account}: ${arn}. Nothing was changed.`,
    );
  }
  return arn;
};

const refusePlaceholder = ({ stage, account }: StagePlace): void => {
  if (account !== ACCOUNT_PLACEHOLDER) return;
  throw new SettingsError(
    `Stage "${stage}" has the placeholder ${ACCOUNT_PLACEHOLDER} as its account. Set its account and region in stages.ts first.`,
  );
};

/**
 * The order of the AWS CLI: a profile of the command line, then keys in the environment, then AWS_PROFILE. The CDK has
 * it too, but the SDK prefers AWS_PROFILE to keys, and would check another account than the CDK deploys to.
 */
const chooseSource = (profile: string | undefined): void => {
  const { AWS_ACCESS_KEY_ID: keyId, AWS_SECRET_ACCESS_KEY: key, AWS_DEFAULT_PROFILE: fallback } = process.env;
  if (profile !== undefined) {
    forgetKeys();
    process.env.AWS_PROFILE = profile;
  } else if (keyId && key) {
    delete process.env.AWS_PROFILE;
  } else if (fallback) {
    process.env.AWS_PROFILE ??= fallback;
  }
  delete process.env.AWS_DEFAULT_PROFILE;
};

const forgetKeys = (): void => {
  for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]) delete process.env[name];
};

/** The SDK ignores AWS_DEFAULT_REGION, and the CDK falls back to us-east-1. A stage's own region needs no setting. */
const chooseRegion = async ({ stage, region }: StagePlace): Promise<void> => {
  const configured = process.env.AWS_REGION || process.env.AWS_DEFAULT_REGION || (await profileRegion());
  const chosen = configured ?? region;
  if (chosen === undefined) {
    throw new SettingsError("There is no AWS region. Set AWS_REGION, or a region in your profile.");
  }
  if (region !== undefined && chosen !== region) {
    throw new SettingsError(
      `Stage "${stage}" belongs to AWS region ${region} (stages.ts), but yours is ${chosen}. Set AWS_REGION=${region}. Nothing was changed.`,
    );
  }
  process.env.AWS_REGION = chosen;
};

const profileRegion = (): Promise<string | undefined> =>
  withClient(new STSClient(), (client) => client.config.region()).catch(() => undefined);

type Provider = ReturnType<typeof defaultProvider>;

/**
 * A code of an MFA device is valid once, so that its credentials are put into the environment. Others are found again
 * by each client, because it renews them when they expire during a long deployment.
 */
const resolveCredentials = async (askCode: (device: string) => string): Promise<Provider> => {
  let isCodeUsed = false;
  const mfaCodeProvider = async (device: string): Promise<string> => {
    isCodeUsed = true;
    return askCode(device);
  };
  // Not as clientConfig: that would also be the region of an SSO session, which may be another one.
  const parentClientConfig = { region: process.env.AWS_REGION };
  const provider = defaultProvider({ mfaCodeProvider, parentClientConfig });
  try {
    const { accessKeyId, secretAccessKey, sessionToken } = await provider();
    if (isCodeUsed) {
      forgetKeys();
      delete process.env.AWS_PROFILE;
      Object.assign(process.env, { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey });
      if (sessionToken !== undefined) process.env.AWS_SESSION_TOKEN = sessionToken;
    }
    return provider;
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    const hasNone = error instanceof Error && error.message === "Could not load credentials from any providers";
    throw new SettingsError(hasNone ? await profileMessage() : notObtained(error), { cause: error });
  }
};

const notObtained = (error: unknown): string => `AWS credentials could not be obtained. ${describe(error)}`;

/** The chain hides the error of a profile whose provider failed; only asking that profile alone shows it. */
const profileMessage = async (): Promise<string> => {
  const { AWS_PROFILE: profile } = process.env;
  try {
    await fromIni()();
  } catch (error) {
    const isAbsent = error instanceof Error && error.message.startsWith("Could not resolve credentials using profile");
    if (!isAbsent) return notObtained(error);
  }
  return profile
    ? `There are no AWS credentials in the profile "${profile}" or in its source_profile, or it is not in ~/.aws/config.`
    : "There are no AWS credentials. Sign in (aws sso login), set AWS_PROFILE, or add --profile.";
};

const describe = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message.trim()}` : String(error);

const refusalOf = (error: unknown): string => {
  if (!(error instanceof STSServiceException)) {
    return `in ${process.env.AWS_REGION} did not answer: check the network, a proxy and AWS_REGION.`;
  }
  if (error.$fault === "server") return "failed: try again later.";
  return /^Signature (expired|not yet current)/.test(error.message)
    ? "does not accept the time of this machine: set its clock."
    : "does not accept these credentials: sign in again, or renew them.";
};

const callerIdentity = async (credentials: Provider): Promise<{ readonly account: string; readonly arn: string }> => {
  try {
    const { Account, Arn } = await withClient(new STSClient({ credentials, maxAttempts: 2 }), (client) =>
      client.send(new GetCallerIdentityCommand({})),
    );
    if (Account === undefined || Arn === undefined) throw new Error("the response has no account");
    return { account: Account, arn: Arn };
  } catch (error) {
    throw new SettingsError(`AWS STS ${refusalOf(error)} ${describe(error)}`, { cause: error });
  }
};
