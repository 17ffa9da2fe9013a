import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import * as z from "#zod";
import { stageVariants } from "../../../builders/templates/stage-variants.ts";
import { functionIn, idIn, mentions, type Resource, templatesOf } from "../../../builders/templates/templates.ts";

const ALL_AT_ONCE = { release: { kind: "all-at-once" } };
const { service: atOnce, data: dataAtOnce } = templatesOf("prod", ALL_AT_ONCE);
const { service, data } = templatesOf("prod");

const CANARY_FUNCTIONS = [
  "apply-upstream-event",
  "check-identity",
  "list-catalog",
  "purchase",
  "read-account",
  "receive-upstream-event",
];
const reference = z.object({ Ref: z.string() });
const dimensions = z.array(z.object({ Name: z.string(), Value: z.unknown() }));
const nameOf = ({ Properties }: Resource): string =>
  z
    .string()
    .parse(Properties.FunctionName)
    .replace(/^prod-airtime-/, "");
const aliases = service.all("AWS::Lambda::Alias");
/** The version in the name of an alarm makes it one of a release. */
const alarms = service.all("AWS::CloudWatch::Alarm").filter(({ Properties }) => Properties.AlarmName !== undefined);

test("a stage that releases all at once has no versions, aliases and deployments of CodeDeploy", () => {
  const types = new Set(atOnce.every.map(({ Type }) => Type));
  expect([...types].filter((type) => /CodeDeploy|Lambda::(Version|Alias)/.test(type))).toEqual([]);
  expect(types).toContain("AWS::Lambda::Function");
});

describe("the change of a live stage to canary releases, and back", () => {
  test("a live stage that changes to canary releases, or back, loses and replaces nothing of what both have", () => {
    expect(data.every).toEqual(dataAtOnce.every);
    const changed = atOnce.every.filter((each) => !isDeepStrictEqual(each, service.get(each.id)));
    // A mapping's function and an integration's URI change in place. Source: AWS, CloudFormation template reference.
    expect(changed.map(({ Type }) => Type).sort()).toEqual([
      ...new Array(5).fill("AWS::ApiGatewayV2::Integration"),
      "AWS::Lambda::EventSourceMapping",
    ]);
    for (const { id, Properties } of changed) {
      const { FunctionName: _, IntegrationUri: __, ...rest } = Properties;
      expect(service.get(id).Properties).toMatchObject(rest);
    }
  });

  test("API Gateway is allowed to invoke an alias before it does, and the function all the time", () => {
    const integrations = service.all("AWS::ApiGatewayV2::Integration");
    const withAlias = integrations.filter(({ Properties }) =>
      aliases.some(({ id }) => id === idIn(Properties.IntegrationUri)),
    );
    expect(withAlias.map(({ Properties }) => nameOf(functionIn(service, Properties.IntegrationUri))).sort()).toEqual(
      CANARY_FUNCTIONS.filter((name) => name !== "apply-upstream-event"),
    );
    for (const { Properties, DependsOn } of withAlias) {
      const [permission, ...others] = service
        .all("AWS::Lambda::Permission")
        .filter((each) => mentions(each.Properties.FunctionName, idIn(Properties.IntegrationUri)));
      expect(others).toEqual([]);
      expect(permission?.Properties.Principal).toBe("apigateway.amazonaws.com");
      expect(DependsOn).toEqual([permission?.id]);
    }
    const permissionsOf = ({ all }: typeof service) =>
      all("AWS::Lambda::Permission").filter(({ Properties }) => mentions(Properties.FunctionName, "Fn::GetAtt"));
    expect(permissionsOf(service)).toEqual(permissionsOf(atOnce));
  });
});

describe("versions", () => {
  const versionsIn = ({ all }: typeof service) =>
    all("AWS::Lambda::Version")
      .map(({ id }) => id)
      .sort();
  const versions = versionsIn(service);

  test("a change that Lambda keeps in a version makes a new one of its functions alone, because AWS refuses a version without a change", () => {
    const notKept = {
      costCentre: "payments",
      reservedConcurrency: { "check-identity": 50 },
      requestsPerSecondMax: 100,
    };
    const { service: changed } = templatesOf("prod", { ...notKept, airtimeMax: 1_000 });
    const others = versionsIn(changed).filter((id) => !versions.includes(id));
    expect(others).toEqual([expect.stringMatching(/^PurchaseCurrentVersion/)]);
  });

  test("a version goes with its release, so that AWS makes one again when a stage returns to canary releases", () => {
    for (const { DeletionPolicy } of service.all("AWS::Lambda::Version")) expect(DeletionPolicy).toBeUndefined();
    expect(versions).toHaveLength(CANARY_FUNCTIONS.length);
  });
});

describe("the shift to a new version", () => {
  const groups = service.all("AWS::CodeDeploy::DeploymentGroup");
  const groupOf = (alias: Resource): Resource => {
    const policy = z
      .object({
        CodeDeployLambdaAliasUpdate: z.object({
          DeploymentGroupName: reference,
          ApplicationName: reference,
        }),
      })
      .parse(alias.UpdatePolicy).CodeDeployLambdaAliasUpdate;
    return service.get(idIn(policy.DeploymentGroupName));
  };

  test("the functions that answer callers and apply events are shifted, each by a deployment of its own", () => {
    expect(aliases.map((alias) => nameOf(functionIn(service, alias.Properties.FunctionName))).sort()).toEqual(
      CANARY_FUNCTIONS,
    );
    expect(new Set(aliases.map((alias) => groupOf(alias).id))).toEqual(new Set(groups.map(({ id }) => id)));
    expect(groups).toHaveLength(CANARY_FUNCTIONS.length);
  });

  test("the shift has the percent and minutes of the settings, in a configuration without a name, because a change replaces it", () => {
    const { all } = templatesOf("prod", stageVariants["every setting, in an existing VPC"]?.[1]).service;
    const [config] = all("AWS::CodeDeploy::DeploymentConfig");
    expect(config?.Properties).toEqual({
      ComputePlatform: "Lambda",
      TrafficRoutingConfig: { Type: "TimeBasedCanary", TimeBasedCanary: { CanaryPercentage: 50, CanaryInterval: 60 } },
    });
    for (const { Properties } of all("AWS::CodeDeploy::DeploymentGroup")) {
      expect(Properties.DeploymentConfigName).toEqual({ Ref: config?.id });
    }
  });

  test("a shift is rolled back by alarms on errors and faults of the new version alone, which are new for each version and notify nobody", () => {
    for (const alias of aliases) {
      const version = z
        .object({ "Fn::GetAtt": z.tuple([z.string(), z.literal("Version")]) })
        .parse(alias.Properties.FunctionVersion);
      const group = groupOf(alias).Properties;
      expect(group.AutoRollbackConfiguration).toEqual({
        Enabled: true,
        // Source: AWS, "Troubleshoot AWS Lambda deployment issues": a stop leaves the alias at two versions otherwise.
        Events: ["DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_REQUEST", "DEPLOYMENT_STOP_ON_ALARM"],
      });
      const { Alarms } = z
        .object({ Enabled: z.literal(true), Alarms: z.array(z.object({ Name: reference })) })
        .parse(group.AlarmConfiguration);
      const own = Alarms.map(({ Name }) => service.get(idIn(Name)).Properties);
      expect(own.map(({ Namespace, MetricName }) => [Namespace, MetricName])).toEqual([
        ["AWS/Lambda", "Errors"],
        ["AirtimeDataIdentity", "Faults"],
      ]);
      // log.test.ts has the same of the line that a function logs.
      expect(
        own.map(({ Dimensions }) =>
          dimensions
            .parse(Dimensions)
            .map(({ Name }) => Name)
            .sort(),
        ),
      ).toEqual([
        ["ExecutedVersion", "FunctionName", "Resource"],
        ["Function", "Version"],
      ]);
      // service-alarms.test.ts has their conditions.
      for (const { AlarmName, Dimensions } of own) {
        expect(dimensions.parse(Dimensions)).toContainEqual({
          Name: expect.stringMatching(/Version$/),
          Value: version,
        });
        expect(JSON.stringify(AlarmName)).toContain(JSON.stringify(version));
      }
    }
    expect(alarms).toHaveLength(2 * aliases.length);
  });

  test("the role of CodeDeploy may change these aliases and nothing else", () => {
    const [role] = service
      .all("AWS::IAM::Role")
      .filter(({ Properties }) => mentions(Properties.AssumeRolePolicyDocument, "codedeploy.amazonaws.com"));
    const [{ PolicyDocument }] = z
      .tuple([
        z.object({
          PolicyDocument: z.object({ Statement: z.array(z.object({ Action: z.unknown(), Resource: z.unknown() })) }),
        }),
      ])
      .parse(role?.Properties.Policies);
    const [reads, ...changes] = PolicyDocument.Statement;
    expect(reads).toEqual({
      Action: ["cloudwatch:DescribeAlarms", "lambda:GetProvisionedConcurrencyConfig"],
      Resource: "*",
    });
    const changed = changes.map(({ Action, Resource }) => {
      expect(Action).toEqual(["lambda:GetAlias", "lambda:UpdateAlias"]);
      const [own, alias] = z.tuple([z.unknown(), z.unknown()]).parse(Resource);
      expect(alias).toEqual({ "Fn::Join": ["", [own, ":current"]] });
      return nameOf(functionIn(service, own));
    });
    expect(changed.sort()).toEqual(CANARY_FUNCTIONS);
  });
});
