import { readFileSync } from "node:fs";
import { afterAll, expect, test, vi } from "vitest";
import * as z from "#zod";
import { cdkJson } from "../../../../infra/cdk-json.ts";
import { stackName } from "../../../../infra/outputs.ts";
import { settingsOf } from "../../../../infra/stage-settings.ts";
import { stages } from "../../../../stages.ts";
import { deployStage } from "../../../../tools/deploy/deploy-stage.ts";
import { startFakeAws } from "../../../builders/aws/fake-aws.ts";
import { recordCalls, type SdkCall } from "../../../builders/aws/recorded-calls.ts";
import { nameOf } from "../../../builders/iam/resolve.ts";
import {
  covers,
  PIPELINE_TEMPLATE,
  readPipelineTemplate,
  serviceLinkedRoles,
} from "../../../builders/templates/pipeline-template.ts";
import { stageVariants } from "../../../builders/templates/stage-variants.ts";
import { type Resource, readTemplate, stackTemplates, statementsOf } from "../../../builders/templates/templates.ts";

/** Goal: the pipeline's roles allow what a deployment of any stage needs, and as little else as can be said. */
const { providerDeletion, descriptions, deploy, diff, boundary, deployment, denials } = readPipelineTemplate();

/** The stacks that a pipeline deploys. */
const deployedTemplates = (...variant: Parameters<typeof stackTemplates>) =>
  [...stackTemplates(...variant)].filter(([stack]) => !stack.endsWith("-Administrator"));
const resources = Object.values(stageVariants).flatMap(([stage, changes]) =>
  deployedTemplates(stage, changes).flatMap(([stack, template]) =>
    readTemplate(template).every.map((resource) => ({ stack, resource })),
  ),
);
const ofType = (...types: readonly string[]): readonly Resource[] =>
  resources.map(({ resource }) => resource).filter(({ Type }) => types.includes(Type));

const statementNamed = (sid: string) => {
  const found = deployment.find(({ Sid }) => Sid === sid);
  if (found === undefined) throw new Error(`The deployment policy has no statement ${sid}`);
  return found;
};

/** Where CloudFormation and IAM name a service differently. */
const IAM_PREFIXES: Readonly<Record<string, string>> = { apigatewayv2: "apigateway" };
/** Allowed by statements of their own, because all of them would be too much. */
const RESTRICTED = ["ec2", "iam", "kms", "s3"];

test("the deployment policy allows the services of all resource types in the stages' templates, and no others", () => {
  const services = new Set(
    resources.map(({ resource: { Type } }) => {
      const name = Type.split("::")[1]?.toLowerCase() ?? Type;
      return IAM_PREFIXES[name] ?? name;
    }),
  );
  for (const service of RESTRICTED) {
    expect(services.delete(service)).toBe(true);
    expect(deployment.flatMap(({ Action }) => Action)).not.toContain(`${service}:*`);
  }
  expect(statementNamed("Services").Action).toEqual([...services].toSorted().map((service) => `${service}:*`));
});

test("the deployment policy, as the boundary of the stage's roles, allows whatever these roles are allowed", () => {
  const needed = ofType("AWS::IAM::Policy", "AWS::IAM::Role").flatMap((resource) =>
    resource.Type === "AWS::IAM::Policy"
      ? statementsOf(resource)
      : z
          ._default(z.array(z.object({ PolicyDocument: z.unknown() })), [])
          .parse(resource.Properties.Policies)
          .flatMap(({ PolicyDocument }) => statementsOf({ ...resource, Properties: { PolicyDocument } })),
  );
  const allowed = ["Services", "Traces", "Network", "IdentityKey", "AuditCopy"].flatMap(
    (sid) => statementNamed(sid).Action,
  );
  const actions = new Set(needed.flatMap(({ Action }) => Action));
  expect(actions.size).toBeGreaterThan(20);
  expect([...actions].filter((action) => !allowed.some((pattern) => covers(pattern, action)))).toEqual([]);
});

test("roles are made and passed under the names that the deployment policy allows, to the services that it names", () => {
  const roles = resources.filter(({ resource }) => resource.Type === "AWS::IAM::Role");
  const stacks = new Set(roles.map(({ stack }) => stack.replace("Sandbox-", "Prod-")));
  const named = ["RolesWithBoundary", "Roles", "RolesOfServices"].map((sid) => statementNamed(sid).Resource);
  for (const arns of named) {
    expect(arns).toEqual([...stacks].toSorted().map((stack) => `arn:aws:iam::123456789012:role/${stack}-*`));
  }
  // IAM's names have 64 characters. CloudFormation shortens both halves, and 12 are random: 25 of the stack's stay.
  expect(stackName("a".repeat(16), "Recovery").length).toBeLessThanOrEqual(25);

  const services = roles.flatMap(({ resource }) =>
    statementsOf({ ...resource, Properties: { PolicyDocument: resource.Properties.AssumeRolePolicyDocument } }).flatMap(
      ({ Principal }) => z.object({ Service: z.optional(z.string()) }).parse(Principal).Service ?? [],
    ),
  );
  const passed = statementNamed("RolesOfServices").Condition?.StringEquals?.["iam:PassedToService"];
  expect([...new Set(services)].toSorted()).toEqual(passed);
});

test("AWS can make the service-linked roles that the stages' resource types need, and no others", () => {
  for (const type of Object.keys(serviceLinkedRoles)) expect(ofType(type), type).not.toEqual([]);
  expect(statementNamed("RolesOfAws").Condition).toEqual({
    StringEquals: { "iam:AWSServiceName": Object.values(serviceLinkedRoles) },
  });
});

// Source: AWS, "Backup vault creation and deletion", required permissions.
test.each([
  "backup:CreateBackupVault",
  "backup-storage:MountCapsule",
  "kms:CreateGrant",
  "kms:Decrypt",
  "kms:DescribeKey",
  "kms:GenerateDataKey",
  "kms:RetireGrant",
])("the deployment policy allows %s, which a backup vault needs", (needed) => {
  expect(deployment.some(({ Action }) => Action.some((action) => covers(action, needed)))).toBe(true);
});

test("a pipeline deploys no managed policy, and no role that a person takes", () => {
  expect(ofType("AWS::IAM::ManagedPolicy")).toEqual([]);
  for (const { Properties } of ofType("AWS::IAM::Role")) {
    expect(JSON.stringify(Properties.AssumeRolePolicyDocument)).not.toContain('"AWS"');
  }
});

test("nothing but roles within the boundary can be given permissions, and the policy cannot change itself", () => {
  const giving = /^iam:(Attach|Create|Put|Set|Add|Update|Delete.*Boundary|Delete.*Policy|Detach)/;
  const unlimited = deployment
    .filter(({ Sid }) => Sid !== "RolesWithBoundary")
    .flatMap(({ Action }) => Action.filter((action) => giving.test(action)));
  // None changes what a role may do or who may assume it; the last is for roles of AWS's own services.
  expect(unlimited).toEqual(["iam:UpdateRole", "iam:UpdateRoleDescription", "iam:CreateServiceLinkedRole"]);
  expect(statementNamed("RolesWithBoundary").Condition).toEqual({
    StringEquals: {
      "iam:PermissionsBoundary": ["arn:aws:iam::123456789012:policy/prod-airtime-deployment"],
    },
  });
  for (const { Action } of deployment) expect(Action).not.toContain("iam:DeleteRolePermissionsBoundary");
});

test("permissionsBoundary puts the boundary on every role that a pipeline deploys, and no role has one without it", () => {
  const boundaries = (changes: object | undefined) =>
    deployedTemplates("prod", changes)
      .flatMap(([, template]) => readTemplate(template).all("AWS::IAM::Role"))
      .map(({ Properties }) => JSON.stringify(Properties.PermissionsBoundary));
  const limited = boundaries(stageVariants["every setting, in an existing VPC"]?.[1]);
  expect(limited.length).toBeGreaterThan(10);
  for (const boundary of limited) expect(boundary).toContain(":policy/prod-airtime-deployment");
  expect(new Set(boundaries({}))).toEqual(new Set([undefined]));
});

test("the policies have at most the 6,144 characters of a managed policy", () => {
  for (const policy of [boundary, denials]) expect(JSON.stringify(policy).length).toBeLessThan(6_144);
});

test("the descriptions of policies with a name stay the same, because another one would replace the policy, which CloudFormation refuses", () => {
  const template = stackTemplates("prod", {}).get(stackName("prod", "Administrator"));
  const ofPeople = readTemplate(template)
    .all("AWS::IAM::ManagedPolicy")
    .map(({ Properties }) => Properties.Description);
  expect([...descriptions, ...ofPeople]).toEqual([
    "What CloudFormation may do for the stage, and the boundary of the stage's roles",
    "What CloudFormation may never do for the stage",
    "Read prod with the operator's commands",
    "Operate prod: read, and change accounts, keys and money",
    "Operate prod where its service does not answer: read",
    "Operate prod where its service does not answer: change",
    "Work with prod in the role finance",
    "Work with prod in the role support",
    "Work with prod in the role auditor",
    "Work with prod in the role reader",
  ]);
});

/** The denials that protect what an administrator deploys. */
const OF_PEOPLE = ["People", "DirectAccess", "TrustPolicies"];

const isDenied = (action: string): boolean =>
  denials.some(
    ({ Effect, Action, Resource, Condition }) =>
      Effect === "Deny" &&
      Resource.join() === "*" &&
      Condition === undefined &&
      Action.some((pattern) => covers(pattern, action)),
  );

// attacks.test.ts has what else would reach data, secrets and backups.
test.each(["s3:PutObject", "backup:DeleteBackupVaultLockConfiguration", "backup:StartCopyJob"])(
  "CloudFormation's own permissions do not reach copies and backups: %s",
  (action) => {
    expect(isDenied(action)).toBe(true);
  },
);

test("what is denied would be allowed otherwise, and is nothing that making the stages' resources needs", () => {
  const allowed = deployment.flatMap(({ Action }) => Action);
  // Another policy may allow what people may do.
  const denied = denials.filter(({ Sid = "" }) => !OF_PEOPLE.includes(Sid)).flatMap(({ Action }) => Action);
  expect(denied.filter((action) => !allowed.some((pattern) => covers(pattern, action)))).toEqual([]);
  // Functions are not invoked by a deployment: no template has a resource of its own making.
  expect(ofType("AWS::CloudFormation::CustomResource")).toEqual([]);
  expect(resources.filter(({ resource }) => resource.Type.startsWith("Custom::"))).toEqual([]);
  // Sources: the handlers' permissions in the schemas of these resource types.
  for (const needed of [
    "backup:CreateBackupVault",
    "backup:PutBackupVaultAccessPolicy",
    "backup:PutBackupVaultLockConfiguration",
    "dynamodb:CreateTable",
    "dynamodb:UpdateContinuousBackups",
    "dynamodb:UpdateTable",
    "kms:CreateAlias",
    "kms:CreateKey",
    "lambda:PublishVersion",
    "lambda:UpdateFunctionCode",
    "secretsmanager:CreateSecret",
    "secretsmanager:GetRandomPassword",
    "secretsmanager:UpdateSecret",
    "sqs:SetQueueAttributes",
  ]) {
    expect(isDenied(needed), needed).toBe(false);
  }
});

// Source: AWS, "CreateTable", ResourcePolicy: it needs the permission PutResourcePolicy too.
test("only the audit table needs what a deployment is denied, so an administrator makes it", () => {
  const withPolicy = ofType("AWS::DynamoDB::Table").filter(({ Properties }) => Properties.ResourcePolicy !== undefined);
  expect(new Set(withPolicy.map(({ id }) => nameOf(id)))).toEqual(new Set(["Audit"]));
  expect(ofType("AWS::SecretsManager::ResourcePolicy")).toEqual([]);
});

/** Of this project's own bootstrap. */
const qualifier = z
  .string()
  .check(z.regex(/^[a-z0-9]{1,10}$/))
  .parse(cdkJson.context["@aws-cdk/core:bootstrapQualifier"]);

test("stages are deployed by a bootstrap of their own, so that its permissions are not those of other apps", () => {
  // CDK's default, and the stack in which an account has it.
  expect([qualifier, cdkJson.toolkitStackName]).not.toContain("hnb659fds");
  expect(cdkJson.toolkitStackName).not.toBe("CDKToolkit");
  const version = z.object({ Parameters: z.object({ BootstrapVersion: z.object({ Default: z.string() }) }) });
  for (const [, template] of deployedTemplates("prod", {})) {
    expect(version.parse(template).Parameters.BootstrapVersion.Default).toBe(`/cdk-bootstrap/${qualifier}/version`);
  }
  const named = readFileSync(PIPELINE_TEMPLATE, "utf8").match(/cdk-(?:bootstrap\/)?(\w+)[-/]/g) ?? [];
  expect(new Set(named)).toEqual(new Set([`cdk-${qualifier}-`, `cdk-bootstrap/${qualifier}/`]));
});

const stackArn = (name: string): string => `arn:aws:cloudformation:us-east-1:123456789012:stack/${name}/*`;

/** What a call of the deployment needs to be allowed: an action and a resource. */
const permissionOf = ({ service, operation, input }: SdkCall): string => {
  const { StackName, FunctionName } = z
    .object({ StackName: z.optional(z.string()), FunctionName: z.optional(z.string()) })
    .parse(input);
  const functions = FunctionName?.replace(
    /^(prod-airtime)-[a-z-]+$/,
    "arn:aws:lambda:us-east-1:123456789012:function:$1-*",
  );
  return `${service.toLowerCase()}:${operation} ${StackName === undefined ? (functions ?? "*") : stackArn(StackName)}`;
};

test("the deploying role may do exactly what npm run deploy asks AWS with its own credentials", async () => {
  const aws = await startFakeAws(({ Action, StackName = "" }) => {
    if (Action === "DescribePrefixLists") return { result: "<prefixListId>pl-1</prefixListId>" };
    const route = "<destinationPrefixListId>pl-1</destinationPrefixListId><gatewayId>vpce-1</gatewayId>";
    if (Action === "DescribeRouteTables")
      return { result: `<item><routeTableId>rtb-1</routeTableId><item>${route}</item></item>` };
    const own = ["ExportsOutputRefLedger1", "ExportsOutputFnGetAttIdentityKey1"];
    const outputs = own.map((key) => `<member><OutputKey>${key}</OutputKey></member>`).join("");
    const fields = `<StackName>${StackName}</StackName><StackStatus>UPDATE_COMPLETE</StackStatus><Outputs>${outputs}</Outputs>`;
    return { result: Action === "DescribeStacks" ? `<Stacks><member>${fields}</member></Stacks>` : "" };
  });
  afterAll(() => aws.stop());
  vi.spyOn(console, "log").mockImplementation(() => {});
  aws.enter({ AWS_ACCESS_KEY_ID: "AKIAENV", AWS_SECRET_ACCESS_KEY: "env", AWS_REGION: "us-east-1" });
  // Reserved concurrency asks Lambda.
  const reservedConcurrency = { purchase: 200 };
  const settings = settingsOf("prod", { prod: { ...settingsOf("prod", stages), reservedConcurrency } });
  const [, existing] = stageVariants["every setting, in an existing VPC"] ?? [];
  const inExisting = settingsOf("prod", { prod: { ...settingsOf("prod", stages), ...existing } });
  const asked: string[] = [];
  const canned = {
    GetAccountSettings: { AccountLimit: { ConcurrentExecutions: 1_000, UnreservedConcurrentExecutions: 1_000 } },
    GetFunctionConcurrency: {},
  };
  await recordCalls({ canned, onCall: (call) => asked.push(permissionOf(call)) }, () =>
    Promise.all([deployStage("prod", settings, async () => 0), deployStage("prod", inExisting, async () => 0)]),
  );
  // Not by a client of the SDK.
  const ec2 = aws.requests.filter(({ Action }) => Action === "DescribePrefixLists" || Action === "DescribeRouteTables");
  asked.push(...ec2.map(({ Action }) => `ec2:${Action} *`));

  const [roles, templates, ...own] = deploy.statements;
  // Not the role for lookups, which has ReadOnlyAccess.
  expect(roles).toEqual({
    Effect: "Allow",
    Action: ["sts:AssumeRole"],
    Resource: ["deploy", "file-publishing"].flatMap((name) =>
      ["us-east-1", "eu-west-1"].map(
        (region) => `arn:aws:iam::123456789012:role/cdk-${qualifier}-${name}-role-123456789012-${region}`,
      ),
    ),
  });
  // Without that role the CDK reads the deployed templates with the deploying role itself, as it does for a pull request.
  expect(templates).toEqual(diff.statements[0]);
  const allowed = own.flatMap(({ Action, Resource }) =>
    Action.flatMap((action) => Resource.map((arn) => `${action} ${arn}`)),
  );
  const besides = new Set(asked.filter((permission) => !permission.startsWith("cloudformation:DescribeStacks ")));
  expect(allowed.toSorted()).toEqual([...besides].toSorted());
});

test("the role of pull requests reads templates, and may assume no role", () => {
  expect(diff.statements).toEqual([
    {
      Effect: "Allow",
      Action: ["cloudformation:DescribeStacks", "cloudformation:GetTemplate"],
      Resource: [stackArn("Prod-*"), stackArn("Prod-Recovery").replace("us-east-1", "eu-west-1")],
    },
  ]);
});

test("GitHub's provider stays for other repositories, but not after a failed creation, whose repetition would find it", () => {
  expect(providerDeletion).toBe("RetainExceptOnCreate");
});

test.each([
  ["deploying", deploy.trust, "repo:octo-org/octo-repo:environment:prod"],
  ["reading", diff.trust, "repo:octo-org/octo-repo:pull_request"],
])("the %s role trusts tokens of the repository for AWS only, and no wildcard", (_, trust, subject) => {
  expect(trust).toEqual([
    {
      Effect: "Allow",
      Action: ["sts:AssumeRoleWithWebIdentity"],
      Resource: [],
      Condition: {
        StringEquals: {
          "token.actions.githubusercontent.com:aud": ["sts.amazonaws.com"],
          "token.actions.githubusercontent.com:sub": [subject],
        },
      },
    },
  ]);
});
