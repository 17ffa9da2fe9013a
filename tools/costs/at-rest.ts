import { CfnResource, Stack } from "aws-cdk-lib";
import { CfnAlarm } from "aws-cdk-lib/aws-cloudwatch";
import { CfnRule } from "aws-cdk-lib/aws-events";
import { CfnEventSourceMapping } from "aws-cdk-lib/aws-lambda";
import * as z from "#zod";
import { addStage } from "../../infra/constructs/stage.ts";
import { unbundledApp } from "../../infra/constructs/unbundled-app.ts";
import { specOf } from "../../infra/functions.ts";
import { queues } from "../../infra/queues.ts";
import { commonSchedules } from "../../infra/schedules.ts";
import { type StageSettings, type Stages, settingsOf } from "../../infra/stage-settings.ts";
import { METRICS_NAMESPACE } from "../../shared/platform/log.ts";
import { stages } from "../../stages.ts";
import { budgets } from "./budgets.ts";
import { MONTH_HOURS, type Usage } from "./prices.ts";
import { times, usageOf } from "./request-usage.ts";

/** Every network that a stage makes for itself; one that exists has costs of its own. */
export const egressSettings = {
  none: { kind: "none" },
  "1 zone": { kind: "nat-gateway", zones: ["us-east-1a"] },
  "2 zones": { kind: "nat-gateway", zones: ["us-east-1a", "us-east-1b"] },
  "3 zones": { kind: "nat-gateway", zones: ["us-east-1a", "us-east-1b", "us-east-1c"] },
} as const satisfies Record<string, StageSettings["egress"]>;

const MINUTES = MONTH_HOURS * 60;

/**
 * The concurrent long polls of Lambda at an empty queue. Sources: AWS, "Configuring scaling behavior for SQS event
 * source mappings" and "Amazon SQS short and long polling".
 */
const POLLERS = 5;
const POLL_S = 20;
/**
 * How often DynamoDB calls KMS for each table that is used. Source: AWS, "DynamoDB encryption at rest: How it works".
 */
const KEY_REQUEST_MINUTES = 5;

type UsageAtRest = Readonly<Record<string, Usage>>;
/** To make a stage's stacks takes most of a second: each is made once. */
const counted = new Map<string, UsageAtRest>();

/** The usage of a stage per month without any request, counted in its stacks. */
export const monthlyUsageAtRest = (
  egress: StageSettings["egress"],
  changes: Pick<Stages[string], "console"> = {},
): UsageAtRest => {
  const stage = JSON.stringify([egress, changes]);
  const usage = counted.get(stage) ?? countUsage(egress, changes);
  counted.set(stage, usage);
  return usage;
};

const countUsage = (egress: StageSettings["egress"], changes: Pick<Stages[string], "console">): UsageAtRest => {
  const resources = resourcesOf(egress, changes);
  const count = (type: string): number => resources.filter(({ cfnResourceType }) => cfnResourceType === type).length;
  const natGateways = count("AWS::EC2::NatGateway");
  const secrets = count("AWS::SecretsManager::Secret");
  const keys = count("AWS::KMS::Key");
  // Only a stage that sells has it (decision 0042).
  const onDirectAccess = count("AWS::CloudTrail::Trail");
  const alarms = count("AWS::CloudWatch::Alarm") - onDirectAccess;
  const watched = watchedMetrics(resources) - onDirectAccess;
  const metrics = minutelyMetrics(resources);
  const polls = countedMappings(resources);
  return {
    "NAT gateways": { natHours: MONTH_HOURS * natGateways },
    "public IPv4 addresses, until they are released": { addressHours: MONTH_HOURS * natGateways },
    [`${secrets} secrets`]: { secrets },
    "the identity key": { keys },
    [`${alarms} alarms on ${watched} metrics`]: { alarms: watched },
    "the alarm on direct writes": { alarms: onDirectAccess },
    "1 composite alarm": { compositeAlarms: count("AWS::CloudWatch::CompositeAlarm") },
    [`${metrics} custom metrics of the scheduled functions`]: { metrics },
    [`${polls} metrics of the streams' polls`]: { metrics: polls },
    dashboard: { dashboards: count("AWS::CloudWatch::Dashboard") },
    "polling of the queues": {
      queueRequests: Object.keys(queues).length * POLLERS * MINUTES * (60 / POLL_S),
    },
    "scheduled functions": {
      ...times(usageOf(budgets.schedules), MINUTES),
      events: MINUTES * resources.filter(isSchedule).length,
      keyRequests: scheduledTables * (MINUTES / KEY_REQUEST_MINUTES),
    },
    ...(changes.console && { "notifications of the console": times(usageOf(budgets.notifications), MINUTES) }),
  };
};

const resourcesOf = (
  egress: StageSettings["egress"],
  changes: Pick<Stages[string], "console">,
): readonly CfnResource[] => {
  const settings = settingsOf("prod", { prod: { ...stages.prod, ...changes, egress } });
  const stacks = Object.values(addStage(unbundledApp(), "prod", settings));
  return stacks.flatMap((stack) => stack?.node.findAll() ?? []).filter((construct) => construct instanceof CfnResource);
};

/** Alarms cost by the metrics that they watch. Source: AWS, "Amazon CloudWatch pricing", alarm metrics. */
const watchedMetrics = (resources: readonly CfnResource[]): number =>
  resources
    .filter((resource) => resource instanceof CfnAlarm)
    .flatMap((alarm) => queries.parse(Stack.of(alarm).resolve(alarm.metrics)))
    .filter(({ metricStat }) => metricStat !== undefined).length;
/** What math is about; an alarm without has one metric. */
const queries = z._default(z.array(z.looseObject({ metricStat: z.optional(z.unknown()) })), [{ metricStat: {} }]);

/** The custom metrics that have a value each minute; the others cost only in the hours in which they occur. */
const minutelyMetrics = (resources: readonly CfnResource[]): number => {
  const names = resources
    .filter((resource) => resource instanceof CfnAlarm)
    .filter(({ namespace, dimensions }) => namespace === METRICS_NAMESPACE && hasOnlyStage(dimensions))
    .map(({ metricName }) => metricName);
  return new Set(names).size;
};

/**
 * Mappings with event counts, which are custom metrics. One that polls an empty stream writes the number of
 * polled events only, which is 0. Source: AWS, "Types of metrics for Lambda functions", event source mappings.
 */
const countedMappings = (resources: readonly CfnResource[]): number =>
  resources.filter((resource) => resource instanceof CfnEventSourceMapping && resource.metricsConfig !== undefined)
    .length;

/** A rule that runs on a schedule; one that matches events costs nothing until they happen. */
const isSchedule = (resource: CfnResource): boolean =>
  resource instanceof CfnRule && resource.scheduleExpression !== undefined;

const hasOnlyStage = (dimensions: unknown): boolean =>
  z.tuple([z.looseObject({ name: z.literal("Stage") })]).safeParse(dimensions).success;

const scheduledTables = commonSchedules.reduce((sum, name) => {
  const { tables = {} } = specOf(name);
  return sum + Object.keys(tables).length;
}, 0);
