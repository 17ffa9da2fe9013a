import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import * as z from "#zod";
import { functionNames } from "../../../../infra/functions.ts";
import { METRICS_NAMESPACE } from "../../../../shared/platform/log.ts";
import { ACCOUNT_ID, REGION } from "../../../../tools/local/local-aws.ts";
import { arnOf, nameOf, resolverOf } from "../../../builders/iam/resolve.ts";
import { everyFunction } from "../../../builders/templates/console.ts";
import { idIn, mentions, templatesOf } from "../../../builders/templates/templates.ts";

/**
 * Goal: each access to an item that no function of the stage made is recorded, and pages the operators if it writes. Method:
 * the trail's selectors are evaluated as CloudTrail does. Source: AWS CloudTrail API Reference, "AdvancedFieldSelector".
 */
const templates = templatesOf("prod", everyFunction);
const { administrator, data, service } = templates;

const selectors = z
  .array(
    z.strictObject({
      Name: z.string(),
      FieldSelectors: z.array(
        z.strictObject({
          Field: z.string(),
          Equals: z.optional(z.array(z.string())),
          StartsWith: z.optional(z.array(z.string())),
          NotStartsWith: z.optional(z.array(z.string())),
        }),
      ),
    }),
  )
  .check(z.length(1));
const [trail] = administrator.all("AWS::CloudTrail::Trail");
const [selector] = selectors.parse(
  resolverOf([administrator, data, service])(trail?.Properties.AdvancedEventSelectors),
);

const SECRET_ARNS = data
  .all("AWS::SecretsManager::Secret")
  .map(({ id }) => arnOf("AWS::SecretsManager::Secret", nameOf(id)))
  .toSorted();
const LEDGER = arnOf("AWS::DynamoDB::Table", "Ledger");
type Call = { readonly arn: string; readonly table?: string; readonly readOnly?: boolean; readonly type?: string };
/** Every condition of a selector must hold; one value of a condition is enough, and of `NotStartsWith` none may be the beginning. */
const isRecorded = ({ arn, table = LEDGER, readOnly = false, type = "AWS::DynamoDB::Table" }: Call): boolean => {
  const event: Readonly<Record<string, string>> = {
    eventCategory: "Data",
    "resources.type": type,
    "resources.ARN": table,
    readOnly: String(readOnly),
    "userIdentity.arn": arn,
  };
  return (selector?.FieldSelectors ?? []).every(({ Field, Equals, StartsWith, NotStartsWith = [] }) => {
    const value = event[Field];
    if (value === undefined) throw new Error(`What is ${Field} of an event?`);
    const begins = (start: string): boolean => value.startsWith(start);
    return (Equals?.includes(value) ?? true) && (StartsWith?.some(begins) ?? true) && !NotStartsWith.some(begins);
  });
};

const session = (role: string): string => `arn:aws:sts::${ACCOUNT_ID}:assumed-role/${role}/session`;

test.each([
  ["an administrator, as in ledger carry-over", session("AWSReservedSSO_AdministratorAccess_0123456789abcdef")],
  ["the role of direct access", session("Prod-Administrator-OperatorsDirectRole7D0A-x1")],
  ["a user with an access key", `arn:aws:iam::${ACCOUNT_ID}:user/ada`],
  ["the root user", `arn:aws:iam::${ACCOUNT_ID}:root`],
  ["a function of another app", session("Shop-Service-OrdersRole7D0A-x1")],
  ["a function of the account's other stage", session("Sandbox-Service-PurchaseRole7D0A-x1")],
])("reads and writes by %s are recorded", (_, arn) => {
  for (const name of ["Access", "Ledger", "Audit", "Cache"]) {
    const table = arnOf("AWS::DynamoDB::Table", name);
    expect([isRecorded({ arn, table }), isRecorded({ arn, table, readOnly: true })], name).toEqual([true, true]);
  }
});

test("what is written to a restored ledger before the stage adopts it is recorded, if its name is that of the stage's tables", () => {
  const arn = session("AWSReservedSSO_AdministratorAccess_0123456789abcdef");
  const tableOf = (name: string): string => `arn:aws:dynamodb:${REGION}:${ACCOUNT_ID}:table/${name}`;
  expect(isRecorded({ arn, table: tableOf("Prod-Data-restored-20261127") })).toBe(true);
  expect(isRecorded({ arn, table: tableOf("Sandbox-Data-restored-20261127") })).toBe(false);
});

test("no access by the stage's functions is recorded, and none to tables of others", () => {
  const roles = service.all("AWS::Lambda::Function").map(({ Properties }) => idIn(Properties.Role));
  expect(roles.length).toBeGreaterThanOrEqual(functionNames.length);
  // CloudFormation begins the name of a role with that of its stack.
  for (const role of roles) expect(isRecorded({ arn: session(`Prod-Service-${role}-x1`) }), role).toBe(false);
  const arn = session("AWSReservedSSO_AdministratorAccess_0123456789abcdef");
  expect(isRecorded({ arn, table: `arn:aws:dynamodb:${REGION}:${ACCOUNT_ID}:table/Orders` })).toBe(false);
  expect(isRecorded({ arn, type: "AWS::S3::Object" })).toBe(false);
});

// CDK's trail has a list of basic selectors, also an empty one. Source: AWS CloudTrail API Reference, "PutEventSelectors".
test("the trail has no basic selectors, because CloudTrail refuses both kinds", () => {
  expect(trail?.Properties).not.toHaveProperty("EventSelectors");
});

test("a write that is recorded raises an alarm within minutes, which pages, and a read does not", () => {
  expect(trail?.Properties).toMatchObject({ IsLogging: true, EnableLogFileValidation: true });
  const [logs] = administrator.all("AWS::Logs::LogGroup");
  expect(mentions(trail?.Properties.CloudWatchLogsLogGroupArn, logs?.id ?? "")).toBe(true);
  const [alarm, ...others] = administrator.all("AWS::CloudWatch::Alarm");
  expect(others).toEqual([]);
  expect(alarm?.Properties).toMatchObject({
    ...{ Namespace: METRICS_NAMESPACE, MetricName: "prod-direct-writes", Statistic: "Sum", Period: 300 },
    ...{ EvaluationPeriods: 1, Threshold: 0, ComparisonOperator: "GreaterThanThreshold" },
  });
  // Source: Amazon CloudWatch Logs, "Filter pattern syntax": IS FALSE.
  expect(administrator.all("AWS::Logs::MetricFilter").map(({ Properties }) => Properties)).toMatchObject([
    {
      FilterPattern: "{ $.readOnly IS FALSE }",
      LogGroupName: { Ref: logs?.id },
      MetricTransformations: [
        { MetricNamespace: METRICS_NAMESPACE, MetricName: "prod-direct-writes", MetricValue: "1" },
      ],
    },
  ]);
  const topic = idIn(service.outputs.AlarmTopic?.Value);
  expect(JSON.stringify(alarm?.Properties.AlarmActions)).toContain(`ExportsOutputRef${topic}`);
});

test("a new value of each secret of the stage pages, and that of another does not", () => {
  const [rule, ...others] = administrator
    .all("AWS::Events::Rule")
    .filter(({ id }) => id.includes("SecretChanged"))
    .map(({ Properties }) => Properties);
  expect(others).toEqual([]);
  // Source: AWS Secrets Manager User Guide, "Secret Label Updated event".
  expect(resolverOf([administrator, data, service])(rule?.EventPattern)).toEqual({
    source: ["aws.secretsmanager"],
    "detail-type": ["Secret Label Updated"],
    resources: expect.toSatisfy((arns: readonly string[]) => isDeepStrictEqual(arns.toSorted(), SECRET_ARNS)),
    detail: { labelUpdated: ["AWSCURRENT"] },
  });
  // Source: Amazon EventBridge, "Quotas": an event pattern has 2,048 characters. An ARN of a stage is up to 58 longer than here.
  const text = JSON.stringify(resolverOf([administrator, data, service])(rule?.EventPattern));
  expect(text.length + 58 * SECRET_ARNS.length).toBeLessThan(2_048);
  expect(rule?.State).toBe("ENABLED");
  const topic = idIn(service.outputs.AlarmTopic?.Value);
  expect(JSON.stringify(rule?.Targets)).toContain(`ExportsOutputRef${topic}`);
});

test("a stage that sells nothing has no trail, whose bucket would outlive it", () => {
  const types = templatesOf("sandbox").administrator.every.map(({ Type }) => Type);
  expect(types.filter((type) => /CloudTrail|S3|CloudWatch/.test(type))).toEqual([]);
});
