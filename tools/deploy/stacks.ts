import { CloudFormationClient, SetStackPolicyCommand, type Stack } from "@aws-sdk/client-cloudformation";
import { SettingsError } from "../../infra/settings-error.ts";
import type { StageSettings } from "../../infra/stage-settings.ts";
import { findStack } from "../aws/find-stack.ts";
import { withClient } from "../aws/with-client.ts";

/** A deployed stack; undefined if there is none, or if only its failed creation is left, which the CDK deletes. */
export const deployedStack = (name: string, region?: string): Promise<Stack | undefined> =>
  stackWith(/^(CREATE_COMPLETE|UPDATE_|IMPORT_)/, name, region);

/** What a failed creation has left. */
export const failedCreation = (name: string, region?: string): Promise<Stack | undefined> =>
  stackWith(/^ROLLBACK_(COMPLETE|FAILED)$/, name, region);

/** A stack in whatever state. */
export const existingStack = (name: string, region?: string): Promise<Stack | undefined> =>
  stackWith(/./, name, region);

const stackWith = (status: RegExp, name: string, region: string | undefined): Promise<Stack | undefined> =>
  ask(async (client) => {
    const stack = await findStack(client, name);
    return status.test(stack?.StackStatus ?? "") ? stack : undefined;
  }, region);

/** The CDK sets no stack policies. A policy holds for all later updates by any tool. */
export const setStackPolicy = (name: string, policy: object): Promise<unknown> =>
  ask((client) => client.send(new SetStackPolicyCommand({ StackName: name, StackPolicyBody: JSON.stringify(policy) })));

/** Asks in the stage's region, unless another one is named. */
const ask = async <Answer>(
  question: (client: CloudFormationClient) => Promise<Answer>,
  region?: string,
): Promise<Answer> => {
  const client = new CloudFormationClient({ maxAttempts: 3, ...(region !== undefined && { region }) });
  try {
    return await withClient(client, question);
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    throw new SettingsError(`AWS CloudFormation refuses. ${name}: ${message}`, { cause: error });
  }
};

/** What the other stacks import of what a stage has made itself, by the setting that decides about it. */
export const OWN_EXPORTS = {
  adopt: /^ExportsOutputRefLedger/,
  identityKeyArn: /^ExportsOutputFnGetAttIdentityKey/,
  auditCopy: /^ExportsOutputRefAuditCopy/,
  egress: /^ExportsOutputRefVpcfunctionsSubnet\d+Subnet/,
} as const;

/** How many such exports a deployed stack has; 0 if there is no stack. */
export const ownExports = (stack: Stack | undefined, setting: keyof typeof OWN_EXPORTS): number =>
  (stack?.Outputs ?? []).filter(({ OutputKey = "" }) => OWN_EXPORTS[setting].test(OutputKey)).length;

/** What loses its contents when it is replaced. */
const STATEFUL_TYPES = ["AWS::DynamoDB::Table", "AWS::SecretsManager::Secret"];
const IDENTITY_KEY_TYPE = "AWS::KMS::Key";

const denied = (action: "Update:Replace" | "Update:Delete", types: readonly string[]) => ({
  Effect: "Deny",
  Principal: "*",
  Action: [action],
  Resource: "*",
  Condition: { StringEquals: { ResourceType: types } },
});

/**
 * The policy of a stage's data: tables, secrets and the identity key may change in place, but not be replaced or deleted.
 * A stage that adopts a ledger lets go of its own tables, and one with another identity key of its own key: they are
 * retained.
 */
export const dataPolicy = ({ adopt, identityKeyArn }: Pick<StageSettings, "adopt" | "identityKeyArn">) => {
  const kept = [
    ...(adopt === undefined ? STATEFUL_TYPES : []),
    ...(identityKeyArn === undefined ? [IDENTITY_KEY_TYPE] : []),
  ];
  return {
    Statement: [
      { Effect: "Allow", Principal: "*", Action: "Update:*", Resource: "*" },
      denied("Update:Replace", [...STATEFUL_TYPES, IDENTITY_KEY_TYPE]),
      ...(kept.length > 0 ? [denied("Update:Delete", kept)] : []),
    ],
  };
};
