import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "#zod";
import { covers, readPipelineTemplate, serviceLinkedRoles } from "../../builders/templates/pipeline-template.ts";
import { stageVariants } from "../../builders/templates/stage-variants.ts";
import { readTemplate, stackTemplates } from "../../builders/templates/templates.ts";
import { installedPython, packagesOf } from "../python.ts";

/**
 * Goal: CloudFormation can make every resource of every stage with the deployment policy. Source: CloudFormation's
 * schemas of resource types list what their handlers call. The last release of cfn-lint that kept these lists is of
 * 2024-08; they name more than a resource needs whose optional parts are not used.
 */
const notUsed: Readonly<Record<string, string>> = {
  "kinesis:*": "no table streams to Kinesis",
  "elasticfilesystem:*": "no function has a file system",
  "firehose:*": "no log group delivers to Firehose",
  "s3:ListBucket": "no table is imported from S3",
  "s3:REST.PUT.OBJECT": "no log group delivers to S3",
  "s3:Put*Configuration": "the audit copy has an object lock alone, whose action is PutBucketObjectLockConfiguration",
  "s3:PutObjectAcl": "no object has an ACL",
  "s3:Delete*": "the audit copy stays",
  "s3:ListAllMyBuckets": "no bucket is searched for",
  "kms:ListKeys": "no key is searched for",
  "kms:*ableKey*": "the identity key is neither disabled nor rotated",
  "kms:RevokeGrant": "no key of the account's own is replaced",
  "iam:*Group*": "no policy is attached to a group",
  "iam:*User*": "no policy is attached to a user",
  "iam:DeleteRolePermissionsBoundary": "the boundary stays",
  "iam:UpdateAssumeRolePolicy": "an administrator changes who may assume a role (docs/pipeline.md)",
  "secretsmanager:GetSecretValue": "an administrator changes a secret's properties (docs/pipeline.md)",
  "dynamodb:*ResourcePolicy": "an administrator makes the audit table (docs/pipeline.md)",
  "dynamodb:EnableKinesisStreamingDestination": "no table streams to Kinesis",
  "backup:Delete*Vault*": "the vaults and their locks stay",
  "ec2:AcceptAddressTransfer": "no address comes from another account",
  "ec2:*VpnGateway*": "no VPN",
  "ec2:*PrivateNatGateway*": "NAT gateways are public",
  "*:*WebACL*": "web ACLs belong to REST APIs only",
  "ec2:ModifyVpcTenancy": "the VPC has the default tenancy",
};

/** These handlers can make service-linked roles for features that no stage uses: streams to Kinesis, insights. */
const WITHOUT_SERVICE_LINKED_ROLE = ["AWS::DynamoDB::Table"];

/** The schemas of these types have no list; the test of services covers them. */
const NO_SCHEMA = [
  "AWS::ApiGatewayV2::Integration",
  "AWS::ApiGatewayV2::Stage",
  "AWS::CodeDeploy::DeploymentGroup",
  "AWS::SNS::Subscription",
];

const python = await installedPython(["cfn-lint==1.10.3"], ["--no-deps"]);
const schemas = join(await packagesOf(python), "cfnlint/data/schemas/providers/us_east_1");

const schema = z.object({
  handlers: z._default(z.record(z.string(), z.object({ permissions: z.array(z.string()) })), {}),
});

/** Of the stacks that a pipeline deploys: the administrator's is deployed without this policy. */
const types = new Set(
  Object.values(stageVariants).flatMap(([stage, changes]) =>
    [...stackTemplates(stage, changes)].flatMap(([stack, template]) =>
      stack.endsWith("-Administrator") ? [] : readTemplate(template).every.map(({ Type }) => Type),
    ),
  ),
);

const permissionsOf = async (type: string): Promise<readonly string[]> => {
  const file = join(schemas, `${type.toLowerCase().replaceAll("::", "-")}.json`);
  const { handlers } = schema.parse(JSON.parse(await readFile(file, "utf8")));
  return Object.values(handlers).flatMap(({ permissions }) => permissions);
};

test("the deployment policy allows what CloudFormation's handlers call for each resource type", async () => {
  const { deployment, denials } = readPipelineTemplate();
  const allowed = deployment.flatMap(({ Action }) => Action);
  // What is denied of some resources only is allowed of the others, which are the ones that a stage has.
  const forbidden = denials.filter(({ Resource }) => Resource.includes("*")).flatMap(({ Action }) => Action);
  const isCovered = (patterns: readonly string[], action: string) =>
    patterns.some((pattern) => covers(pattern, action));
  const withoutList: string[] = [];
  const denied = new Set<string>();
  for (const type of types) {
    const permissions = await permissionsOf(type);
    if (permissions.length === 0) withoutList.push(type);
    for (const permission of permissions) {
      if (!isCovered(allowed, permission) || isCovered(forbidden, permission)) denied.add(permission);
    }
  }
  expect([...denied].filter((action) => !isCovered(Object.keys(notUsed), action))).toEqual([]);
  expect(Object.keys(notUsed).filter((pattern) => ![...denied].some((action) => covers(pattern, action)))).toEqual([]);
  expect(new Set(withoutList)).toEqual(new Set(NO_SCHEMA));
});

test("every type whose handlers make a service-linked role names it, because the policy allows these by name", async () => {
  const making: string[] = [];
  for (const type of types) {
    if ((await permissionsOf(type)).includes("iam:CreateServiceLinkedRole")) making.push(type);
  }
  const named = [...Object.keys(serviceLinkedRoles), ...WITHOUT_SERVICE_LINKED_ROLE];
  expect(making).toContain("AWS::Backup::BackupSelection");
  expect(making.filter((type) => !named.includes(type))).toEqual([]);
});
