import { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import * as z from "#zod";
import { addStage } from "../../infra/constructs/stage.ts";
import { unbundledApp } from "../../infra/constructs/unbundled-app.ts";
import { type StageInput, settingsOf } from "../../infra/stage-settings.ts";

/** What a stage of a release has on AWS that the next release must not make a second time. */
export const deployedSchema = z.object({
  /** By stack and logical id; with the name, if it is not CloudFormation's. */
  resources: z.record(z.string(), z.object({ type: z.string(), name: z.optional(z.string()) })),
  /** The indexes of each table, with their keys and attributes. */
  indexes: z.record(z.string(), z.record(z.string(), z.string())),
  /** The names under which stacks export something, and those that other stacks import. */
  exports: z.array(z.string()),
  imports: z.array(z.string()),
});
export type Deployed = z.output<typeof deployedSchema>;

/** They keep state, or are known by an id outside of their stack: another logical id makes another one in their place. */
const KEPT: readonly string[] = [
  "AWS::ApiGateway::RestApi",
  "AWS::ApiGatewayV2::Api",
  "AWS::ApiGatewayV2::DomainName",
  "AWS::Backup::BackupVault",
  "AWS::DynamoDB::Table",
  "AWS::EC2::EIP",
  "AWS::EC2::SecurityGroup",
  "AWS::EC2::Subnet",
  "AWS::EC2::VPC",
  "AWS::KMS::Key",
  "AWS::Lambda::EventSourceMapping",
  "AWS::S3::Bucket",
  "AWS::SNS::Topic",
  "AWS::SQS::Queue",
  "AWS::SecretsManager::Secret",
];

/** The property with the name of a resource that can be made again, but not while the present one has its name. */
const NAMES: Readonly<Record<string, string>> = {
  "AWS::CloudWatch::Dashboard": "DashboardName",
  "AWS::IAM::ManagedPolicy": "ManagedPolicyName",
  "AWS::KMS::Alias": "AliasName",
  "AWS::Lambda::Function": "FunctionName",
};

const account = "000000000000";
const region = "us-east-1";
const vpcEndpointIds = ["vpce-0a1b2c3d"];

/** All that a stage can have. */
const everything: StageInput = {
  account,
  region,
  upstreamBaseUrl: "https://upstream.example.com/v1",
  upstreamWebhookIps: [],
  upstreamProfile: {
    reference: "all",
    lookup: { path: "/transactions/{reference}", our_reference: "client_reference" },
  },
  egress: { kind: "nat-gateway", zones: ["us-east-1a", "us-east-1b", "us-east-1c"] },
  identityPrices: {
    nin: { basic: 1, advanced: 2, retrieve: 3 },
    bvn: { basic: 1, advanced: 2, retrieve: 3 },
  },
  alarmEmail: "operations@example.com",
  domain: { name: "api.example.com", certificateArn: `arn:aws:acm:${region}:${account}:certificate/0a1b2c3d` },
  console: {
    issuer: "https://login.example.com",
    clientId: "console",
    operatorGroup: "operators",
    readerGroup: "readers",
  },
  auditCopy: { days: 400 },
  recovery: { region: "eu-west-1" },
};
const stages: readonly StageInput[] = [
  { ...everything, front: { kind: "rest", callerRanges: ["198.51.100.0/24"] } },
  { ...everything, front: { kind: "private", vpcEndpointIds } },
];

const templateSchema = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z._default(z.record(z.string(), z.unknown()), {}) }),
  ),
  Outputs: z._default(z.record(z.string(), z.object({ Export: z.optional(z.object({ Name: z.string() })) })), {}),
});
const IMPORT = /"Fn::ImportValue":"([^"]+)"/g;
const indexSchema = z.looseObject({ IndexName: z.string() });

const indexesOf = (indexes: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    z
      .array(indexSchema)
      .parse(indexes ?? [])
      .map(({ IndexName, ...definition }) => [IndexName, JSON.stringify(definition)]),
  );

/** What this tree deploys. */
export const deployedResources = (): Deployed => {
  const resources = new Map<string, Deployed["resources"][string]>();
  const indexes = new Map<string, Deployed["indexes"][string]>();
  const [exports, imports] = [new Set<string>(), new Set<string>()];
  for (const settings of stages) {
    const app = unbundledApp();
    addStage(app, "prod", settingsOf("prod", { prod: settings }));
    for (const stack of app.node.children.filter((child) => Stack.isStack(child))) {
      const { Resources, Outputs } = templateSchema.parse(Template.fromStack(stack).toJSON());
      for (const { Export } of Object.values(Outputs)) if (Export) exports.add(Export.Name);
      for (const [, name = ""] of JSON.stringify([Resources, Outputs]).matchAll(IMPORT)) imports.add(name);
      for (const [id, { Type: type, Properties }] of Object.entries(Resources)) {
        const place = `${stack.stackName} ${id}`;
        const name = NAMES[type];
        if (name !== undefined) resources.set(place, { type, name: z.string().parse(Properties[name]) });
        if (KEPT.includes(type)) resources.set(place, { type });
        if (type === "AWS::DynamoDB::Table") indexes.set(place, indexesOf(Properties.GlobalSecondaryIndexes));
      }
    }
  }
  const sorted = <Value>(map: ReadonlyMap<string, Value>): Record<string, Value> =>
    Object.fromEntries([...map].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  return {
    resources: sorted(resources),
    indexes: sorted(indexes),
    exports: [...exports].toSorted(),
    imports: [...imports].toSorted(),
  };
};

const stackOf = (place: string): string => place.split(" ")[0] ?? place;

const lostOrDouble = (before: Deployed, after: Deployed): readonly string[] => {
  const added = Object.entries(after.resources).filter(([place]) => !Object.hasOwn(before.resources, place));
  return Object.entries(before.resources).flatMap(([place, { type, name }]) => {
    if (after.resources[place]?.type === type) return [];
    const [other] =
      added.find(([now, found]) => found.type === type && found.name === name && stackOf(now) === stackOf(place)) ?? [];
    if (other === undefined) return [];
    return [
      name === undefined
        ? `${place} (${type}) would be deleted, and ${other} be made in its place`
        : `${other} (${type}) cannot be made while ${place} has its name, ${name}`,
    ];
  });
};

const impossibleIndexes = (before: Deployed, after: Deployed): readonly string[] =>
  Object.entries(before.indexes).flatMap(([table, old]) => {
    const now = after.indexes[table] ?? {};
    const names = new Set([...Object.keys(old), ...Object.keys(now)]);
    const changed = [...names].filter(
      (name) => old[name] !== undefined && now[name] !== undefined && old[name] !== now[name],
    );
    const madeOrDeleted = [...names].filter((name) => (old[name] === undefined) !== (now[name] === undefined));
    return [
      ...changed.map((name) => `${table}: the index ${name} cannot change. Make another one`),
      ...(madeOrDeleted.length > 1
        ? [`${table}: one index is made or deleted in an update, not ${madeOrDeleted.join(", ")}`]
        : []),
    ];
  });

/** The CDK exports what is imported, so that an export goes with its last use: CloudFormation refuses while the other stack has it. */
const lostExports = (before: Deployed, after: Deployed): readonly string[] =>
  before.imports
    .filter((name) => !after.exports.includes(name))
    .map((name) => `${name} is imported by a live stage: keep it for a release, with exportValue of its stack`);

/** Why a live stage of the one release cannot become one of the other; empty if it can. */
export const updateProblems = (before: Deployed, after: Deployed): readonly string[] => [
  ...lostOrDouble(before, after),
  ...impossibleIndexes(before, after),
  ...lostExports(before, after),
];
