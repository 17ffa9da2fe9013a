import { readFileSync } from "node:fs";
import { Token } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { CfnQueue } from "aws-cdk-lib/aws-sqs";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import * as z from "#zod";
import { addStage } from "../../../../infra/constructs/stage.ts";
import { unbundledApp } from "../../../../infra/constructs/unbundled-app.ts";
import { stackName } from "../../../../infra/outputs.ts";
import { settingsOf, stageSettings } from "../../../../infra/stage-settings.ts";
import { stages } from "../../../../stages.ts";
import { OWN_EXPORTS } from "../../../../tools/deploy/stacks.ts";
import { aConsole } from "../../../builders/templates/console.ts";
import { stageVariants } from "../../../builders/templates/stage-variants.ts";
import {
  changedSettings,
  type Resource,
  readTemplate,
  stackTemplates,
  synthesisWarnings,
  templatesOf,
} from "../../../builders/templates/templates.ts";

test("each setting has more than one value in the variants of stages that tests synthesise", () => {
  const variants = Object.values(stageVariants).map(([stage, changes]) => changedSettings(stage, changes));
  const constant = Object.keys(stageSettings.shape).filter((name) => {
    const values = variants.map((settings) => JSON.stringify(Object.entries(settings).find(([key]) => key === name)));
    return new Set(values).size === 1;
  });
  expect(constant).toEqual([]);
});

test.each(Object.entries(stageVariants))(
  "cdk-nag has no finding in this variant of a stage, and its synthesis prints no warning: %s",
  (_, [stage, changes]) => {
    // A finding throws.
    expect(synthesisWarnings(stage, changes)).toEqual([]);
  },
);

// Source: AWS CloudFormation, quotas: 51,200 bytes of a template in a request. The CDK puts a larger one into the bucket of the
// bootstrap, where it takes a file of that name that is there as its own: a session of the pipeline can put one there.
test.each(Object.entries(stageVariants))(
  "CloudFormation gets the administrator's template from the administrator's own request in this variant of a stage: %s",
  (_, [stage, changes]) => {
    const template = stackTemplates(stage, changes).get(stackName(stage, "Administrator"));
    // As the CDK writes it, without the paths of constructs.
    expect(stringify(template, { schema: "yaml-1.1", lineWidth: 0 }).length).toBeLessThan(48_000);
  },
);

describe("the sandbox", () => {
  const app = unbundledApp();
  const { data, service } = addStage(app, "sandbox", settingsOf("sandbox", stages));

  test("its stacks fit every account and can be deleted", () => {
    expect([data, service].map((stack) => stack.terminationProtection)).toEqual([false, false]);
    expect(Token.isUnresolved(data.account)).toBe(true);
  });

  test("cdk-nag reports a queue without dead letters", () => {
    new CfnQueue(service, "WithoutDeadLetters");
    expect(() => app.synth()).toThrow("AwsSolutions-SQS3");
  });
});

describe("the stacks of a stage that sells, with copies in another region", () => {
  const changes = stageVariants["copies in another region"]?.[1];
  const app = unbundledApp();
  const { administrator, ...others } = addStage(app, "prod", changedSettings("prod", changes));
  const { data, network, service, recovery } = others;

  test("belong to its account and their region, and those that keep state are protected", () => {
    for (const stack of [data, network, service, administrator]) {
      expect([stack?.account, stack?.region]).toEqual(["000000000000", "us-east-1"]);
    }
    expect([recovery?.account, recovery?.region]).toEqual(["000000000000", "eu-west-1"]);
    const protections = [data, network, recovery, service].map((stack) => stack?.terminationProtection);
    expect(protections).toEqual([true, true, true, false]);
  });

  test("CloudFormation deploys that of the administrator with the credentials of the person who deploys it, and the others with its role", () => {
    const assembly = app.synth();
    const roleOf = (name: string) => {
      const { assumeRoleArn, cloudFormationExecutionRoleArn } = assembly.getStackByName(name);
      return [assumeRoleArn, cloudFormationExecutionRoleArn];
    };
    expect(roleOf(administrator.stackName)).toEqual([undefined, undefined]);
    expect(assembly.getStackByName(administrator.stackName).stackTemplateAssetObjectUrl).toBeUndefined();
    for (const stack of Object.values(others)) {
      if (stack) expect(roleOf(stack.stackName)).toEqual([expect.any(String), expect.any(String)]);
    }
    // What npm run deploy deploys is the service with what it needs, and the copies before their plan.
    expect(service.dependencies).not.toContain(administrator);
    expect(data.dependencies).toEqual([recovery]);
    const needed = new Set([service, ...service.dependencies, ...data.dependencies]);
    expect(needed).toEqual(new Set(Object.values(others)));
  });
});

// CloudFormation keeps an export that another stack imports, so that the deployment fails.
describe.each(Object.entries(stageVariants))(
  "a live stage that becomes this variant, or was it: %s",
  (_, [stage, changes]) => {
    const before = templatesOf(stage);
    const after = templatesOf(stage, changes);
    type Templates = typeof before;
    /** The outputs by which a part exports what another part imports. */
    const imported = (templates: Templates, part: "data" | "network" | "service", by: "service" | "administrator") => {
      const text = JSON.stringify(templates[by].every);
      const outputs = Object.entries(templates[part]?.outputs ?? {});
      return outputs.flatMap(([key, { Export }]) => (Export && text.includes(`"${Export.Name}"`) ? [key] : []));
    };
    const changesOfStage: readonly (readonly [Templates, Templates])[] = [
      [before, after],
      [after, before],
    ];

    test("takes no export from the service that the administrator's stack imports", () => {
      for (const [from, to] of changesOfStage) {
        const left = Object.keys(to.service.outputs);
        expect(imported(from, "service", "administrator").filter((key) => !left.includes(key))).toEqual([]);
      }
    });

    test("takes those exports that the service imports by which deploy knows that the service comes first, or none", () => {
      const known = Object.values(OWN_EXPORTS);
      for (const [from, to] of changesOfStage) {
        for (const part of ["data", "network"] as const) {
          // A network that a stage leaves stays as it is.
          if (to[part] === undefined) continue;
          const left = Object.keys(to[part].outputs);
          const removed = imported(from, part, "service").filter((key) => !left.includes(key));
          if (removed.length === 0) continue;
          expect(
            removed.some((key) => known.some((pattern) => pattern.test(key))),
            removed.join(),
          ).toBe(true);
        }
      }
    });
  },
);

describe("the variables of functions", () => {
  const session = "arn:aws:sts::000000000000:assumed-role/AWSReservedSSO_operate_0123456789abcdef";
  const people = Object.fromEntries(
    Array.from({ length: 15 }, (_, index) => [`00u1a2b3c4d5e6f7${index}`, [`${session}/person${index}@example.com`]]),
  );
  const fourEyes = { people };
  const refusals = Array.from({ length: 15 }, (_, index) => ({
    status: 500,
    message: `The order number ${index} is refused`,
  }));
  const upstreamProfile = { reference: "all", refusals: { messages: refusals } };
  const synthesis = (changes: object) => () =>
    addStage(unbundledApp(), "prod", changedSettings("prod", { console: aConsole, ...changes }));

  test("have room for the people of four eyes, or for a long profile", () => {
    expect(synthesis({ fourEyes })).not.toThrow();
    expect(synthesis({ upstreamProfile })).not.toThrow();
  });

  test("that Lambda would refuse in the middle of a deployment fail the synthesis, which names the settings", () => {
    expect(synthesis({ fourEyes, upstreamProfile })).toThrow(
      expect.objectContaining({
        name: "SettingsError",
        message: expect.stringMatching(
          /the variables of console-api take about \d+ bytes, and AWS Lambda allows 4096\. Shorten fourEyes \(\d+\), upstreamProfile \(\d+\)/,
        ),
      }),
    );
  });
});

test("a template for other tools has the settings themselves, and its only parameter is the bucket of the archives", () => {
  const changes = {
    upstreamBaseUrl: "https://upstream.example.org/v2",
    identityPrices: { nin: { basic: 10, advanced: 20, retrieve: 30 }, bvn: { basic: 10, advanced: 20, retrieve: 30 } },
    upstreamCosts: { amountIs: "charged" },
    airtimeMax: 10_000,
    operatorActMaxNaira: 50_000,
    timeZone: "Europe/London",
    phoneRetentionDays: 35,
  };
  const settings = changedSettings("sandbox", changes);
  const { service } = addStage(unbundledApp(), "sandbox", settings, { isPortable: true });
  const template = Template.fromStack(service).toJSON();
  // `aws cloudformation deploy` keeps the value that a stack has for a parameter, also if its default is another one.
  expect(template.Parameters).toEqual({ AssetsBucket: { Type: "String", Description: expect.any(String) } });
  expect(readTemplate(template).outputs).toMatchObject({
    UpstreamBaseUrl: { Value: "https://upstream.example.org/v2" },
    IdentityPrices: { Value: JSON.stringify(changes.identityPrices) },
    UpstreamCosts: { Value: expect.stringContaining("charged") },
    AirtimeNairaMax: { Value: "10000" },
    OperatorActMaxNaira: { Value: "50000" },
    TimeZone: { Value: "Europe/London" },
    PhoneRetentionDays: { Value: "35" },
  });
});

describe("the documented commands that deploy a stage without the CDK", () => {
  /** What CloudFormation takes without a bucket. Source: AWS CloudFormation, "Understand CloudFormation quotas". */
  const TEMPLATE_BYTES_MAX = 51_200;
  const page = readFileSync(new URL("../../../../docs/deployment.md", import.meta.url), "utf8").replaceAll("\\\n", "");
  const commands = page.matchAll(/aws cloudformation deploy --stack-name Prod-(\w+) --template-file prod\/\S+(.*)/g);
  const withoutBucket = [...commands].flatMap(([, part, options = ""]) =>
    options.includes("--s3-bucket") ? [] : [part],
  );

  // They have the longest templates, Data and Network, of all variants.
  test.each(["every setting, in an existing VPC", "three zones with addresses"])(
    "name a bucket if the template of a stack of %s may be too long for one",
    (variant) => {
      const [stage = "", changes] = stageVariants[variant] ?? [];
      expect(withoutBucket.length).toBeGreaterThan(0);
      const longest = "abcdefghijklmnop";
      const settings = settingsOf(longest, { [longest]: changedSettings(stage, changes) });
      const { data, network, administrator } = addStage(unbundledApp(), longest, settings, { isPortable: true });
      const stacks = { Data: data, ...(network && { Network: network }), Administrator: administrator };
      for (const [part, stack] of Object.entries(stacks)) {
        if (!withoutBucket.includes(part)) continue;
        const written = JSON.stringify(Template.fromStack(stack).toJSON(), undefined, 1);
        expect(Buffer.byteLength(written), part).toBeLessThanOrEqual(TEMPLATE_BYTES_MAX);
      }
    },
  );
});

describe("tags", () => {
  /** Tags are a list, or with API Gateway a map. */
  const tagList = z.union([
    z.array(z.object({ Key: z.string(), Value: z.unknown() })),
    z.pipe(
      z.record(z.string(), z.unknown()),
      z.transform((map) => Object.entries(map).map(([Key, Value]) => ({ Key, Value }))),
    ),
  ]);
  const tagsOf = ({ Properties }: Resource) =>
    Properties.Tags === undefined ? undefined : tagList.parse(Properties.Tags);
  const every = ({ data, network, service, administrator }: ReturnType<typeof templatesOf>) =>
    [data, network, service, administrator].flatMap((template) => template?.every ?? []);

  /**
   * The types of these stacks that AWS cannot tag, and the budget, which the CDK does not. Source: AWS, CloudFormation
   * resource provider schemas.
   */
  const untaggable = [
    "AWS::ApiGatewayV2::ApiMapping",
    "AWS::ApiGatewayV2::Authorizer",
    "AWS::ApiGatewayV2::Integration",
    "AWS::ApiGatewayV2::Route",
    "AWS::Budgets::Budget",
    "AWS::CDK::Metadata",
    "AWS::CodeDeploy::DeploymentConfig",
    "AWS::EC2::Route",
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::EC2::VPCGatewayAttachment",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Policy",
    "AWS::KMS::Alias",
    "AWS::Lambda::Alias",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::Lambda::Permission",
    "AWS::Lambda::Version",
    "AWS::Logs::MetricFilter",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::Subscription",
    "AWS::SNS::TopicPolicy",
    "AWS::SQS::QueuePolicy",
  ];

  test.each([
    ["payments", stageVariants["every setting, in an existing VPC"]?.[1]],
    [undefined, {}],
  ])(
    "every resource that AWS can tag has the tags service and stage, and the cost centre of the stage: %s",
    (costCentre, changes) => {
      const types = new Set<string>();
      for (const resource of every(templatesOf("prod", changes))) {
        if (untaggable.includes(resource.Type)) continue;
        types.add(resource.Type);
        const own = new Map(tagsOf(resource)?.map(({ Key, Value }) => [Key, Value]));
        expect(
          ["service", "stage", "cost-centre"].map((key) => own.get(key)),
          resource.id,
        ).toEqual(["airtime", "prod", costCentre]);
      }
      expect([...types]).toEqual(expect.arrayContaining(["AWS::DynamoDB::Table", "AWS::Lambda::Function"]));
    },
  );
});
