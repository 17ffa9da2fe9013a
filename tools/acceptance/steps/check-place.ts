import { cdkJson } from "../../../infra/cdk-json.ts";
import { SettingsError } from "../../../infra/settings-error.ts";
import { ACCOUNT_PLACEHOLDER, assertStageName, type Stages, sells } from "../../../infra/stage-settings.ts";
import { readAccountConcurrency } from "../../aws/concurrency.ts";
import { signIn } from "../../aws/sign-in.ts";
import { secretsOf, tablesOf } from "../left-behind.ts";
import { existingStack, stackNames } from "../stacks.ts";

export type Place = { readonly account: string; readonly concurrencyMax: number };

/** Refuses a name that is in use before anything is asked of AWS. Throws a SettingsError. */
export const assertNewStage = (stage: string, known: Stages): void => {
  if (Object.hasOwn(known, stage)) {
    throw new SettingsError(`Stage "${stage}" is in stages.ts. This command destroys its stage: choose another name.`);
  }
  assertStageName(stage);
};

/** Signs in, and refuses an account in which real money is moved. Throws a SettingsError; nothing was changed. */
export const signInTo = async (
  {
    stage,
    region,
    profile,
  }: { readonly stage: string; readonly region: string; readonly profile?: string | undefined },
  known: Stages,
): Promise<string> => {
  process.env.AWS_REGION = region;
  const arn = await signIn({ stage }, { profile });
  const account = arn.split(":")[4] ?? "";
  const selling = Object.entries(known).find(([, one]) => sells(one) && one.account === account);
  if (selling !== undefined && account !== ACCOUNT_PLACEHOLDER) {
    throw new SettingsError(
      `AWS account ${account} is that of stage "${selling[0]}", whose concurrency this command would use up. Sign in to another one. Nothing was changed.`,
    );
  }
  return account;
};

/**
 * Refuses a region without the CDK's bootstrap, a stage that exists there, and what an earlier run left. It reads all that the
 * clean-up reads: credentials that may not would leave the stage behind.
 */
export const checkPlace = async (stage: string, region: string, account: string): Promise<Place> => {
  if ((await existingStack(cdkJson.toolkitStackName)) === undefined) {
    throw new SettingsError(
      `Region ${region} of account ${account} is not bootstrapped. Run npx cdk bootstrap aws://${account}/${region} --app '' first. Nothing was changed.`,
    );
  }
  for (const name of stackNames(stage)) {
    if ((await existingStack(name)) === undefined) continue;
    throw new SettingsError(
      `There is a stack ${name} in account ${account}. Choose another name; or, if an earlier run was killed, add --clean-up to delete what it left. Nothing was changed.`,
    );
  }
  const left = [...(await tablesOf(stage)), ...(await secretsOf(stage))];
  if (left.length > 0) {
    throw new SettingsError(
      `An earlier run of stage "${stage}" left ${left.join(", ")} in account ${account}. Add --clean-up to delete it first. Nothing was changed.`,
    );
  }
  const { UnreservedConcurrentExecutions: concurrencyMax } = await readAccountConcurrency();
  return { account, concurrencyMax };
};
