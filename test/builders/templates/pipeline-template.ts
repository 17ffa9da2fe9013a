import { readFileSync } from "node:fs";
import { parse } from "yaml";
import * as z from "#zod";

const oneOrMore = z.union([
  z.array(z.unknown()),
  z.pipe(
    z.unknown(),
    z.transform((one) => [one]),
  ),
]);
/** As for the stage prod. */
const PARAMETERS: Readonly<Record<string, string>> = {
  Stage: "prod",
  StackPrefix: "Prod",
  Repository: "octo-org/octo-repo",
  RecoveryRegion: "eu-west-1",
  "AWS::Partition": "aws",
  "AWS::AccountId": "123456789012",
  "AWS::Region": "us-east-1",
};
const substituted = z.pipe(
  z.object({ "Fn::Sub": z.string() }),
  z.transform((sub) =>
    sub["Fn::Sub"].replaceAll(/\$\{([\w:]+)\}/g, (whole, name: string) => PARAMETERS[name] ?? whole),
  ),
);
const text = z.union([z.string(), substituted]);
const statement = z.object({
  Sid: z.optional(z.string()),
  Effect: z.enum(["Allow", "Deny"]),
  Action: z.pipe(oneOrMore, z.array(z.string())),
  Resource: z._default(z.pipe(oneOrMore, z.array(text)), []),
  Condition: z.optional(z.record(z.string(), z.record(z.string(), z.pipe(oneOrMore, z.array(text))))),
});
export type PipelineStatement = z.output<typeof statement>;
const document = z.object({ Statement: z.array(statement) });

const role = z.object({
  Properties: z.object({
    AssumeRolePolicyDocument: document,
    Policies: z.array(z.object({ PolicyDocument: document })).check(z.length(1)),
  }),
});

const managedPolicy = z.object({ Properties: z.object({ Description: z.string(), PolicyDocument: document }) });

const template = z.object({
  Resources: z.object({
    Provider: z.object({ DeletionPolicy: z.string() }),
    DeployRole: role,
    DiffRole: role,
    DeploymentPolicy: managedPolicy,
    DenialsPolicy: managedPolicy,
  }),
});

export const PIPELINE_TEMPLATE = "infra/policies/pipeline.yaml";

/** The statements of the template with the parameters of the stage prod. */
export const readPipelineTemplate = () => {
  const { Provider, DeployRole, DiffRole, DeploymentPolicy, DenialsPolicy } = template.parse(
    parse(readFileSync(PIPELINE_TEMPLATE, "utf8")),
  ).Resources;
  const roleOf = ({ Properties }: z.output<typeof role>) => ({
    trust: Properties.AssumeRolePolicyDocument.Statement,
    statements: Properties.Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement),
  });
  const boundary = DeploymentPolicy.Properties.PolicyDocument.Statement;
  return {
    providerDeletion: Provider.DeletionPolicy,
    descriptions: [DeploymentPolicy, DenialsPolicy].map(({ Properties }) => Properties.Description),
    deploy: roleOf(DeployRole),
    diff: roleOf(DiffRole),
    /** What CloudFormation may do, and no role of the stage may do more. */
    boundary,
    /** What it allows. */
    deployment: boundary.filter(({ Effect }) => Effect === "Allow"),
    /** What CloudFormation is denied, by the boundary too. */
    denials: [...boundary, ...DenialsPolicy.Properties.PolicyDocument.Statement].filter(
      ({ Effect }) => Effect === "Deny",
    ),
  };
};

/** Whether a policy's action, which may have wildcards, covers another one. */
export const covers = (allowed: string, action: string): boolean =>
  new RegExp(`^${allowed.replaceAll("*", ".*")}$`, "i").test(action);

/**
 * Roles that AWS makes for the first resource of a type, with its permissions. Sources:
 * AWS, "Using roles to back up and copy", "Using service-linked roles for API Gateway", and of NAT gateways; AWS KMS,
 * "Create multi-Region primary keys", which the schema of its resource type leaves out.
 */
export const serviceLinkedRoles: Readonly<Record<string, string>> = {
  "AWS::Backup::BackupSelection": "backup.amazonaws.com",
  "AWS::EC2::NatGateway": "natgateway.amazonaws.com",
  "AWS::ApiGatewayV2::DomainName": "ops.apigateway.amazonaws.com",
  "AWS::KMS::Key": "mrk.kms.amazonaws.com",
};
