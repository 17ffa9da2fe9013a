import { afterEach, describe, expect, test, vi } from "vitest";
import * as z from "#zod";
import { type TableShape, tables } from "../../../../infra/tables.ts";
import { log, putMetrics } from "../../../../shared/platform/log.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { everyFunction } from "../../../builders/templates/console.ts";
import { aDomain, stageVariants } from "../../../builders/templates/stage-variants.ts";
import { mentions, type Resource, resourceName, templatesOf } from "../../../builders/templates/templates.ts";

const alarms = templatesOf("prod").service.all("AWS::CloudWatch::Alarm");
const { service: everything } = templatesOf("prod", everyFunction);

afterEach(() => {
  vi.unstubAllEnvs();
});

const line = z.looseObject({
  _aws: z.object({
    Timestamp: z.int().check(z.positive()),
    CloudWatchMetrics: z.tuple([
      z.object({
        Namespace: z.string(),
        Dimensions: z.tuple([z.array(z.string())]),
        Metrics: z.array(z.object({ Name: z.string(), Unit: z.string() })),
      }),
    ]),
  }),
});

/** The line that a function of prod logs, as CloudWatch parses it. */
const loggedLine = (write: () => void): z.output<typeof line> => {
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "prod-airtime-reconcile-ledger");
  const written = captureLog();
  write();
  expect(written.lines()).toHaveLength(1);
  return line.parse(written.lines()[0]);
};

type Dimensions = { readonly TableName?: unknown; readonly GlobalSecondaryIndexName?: unknown };
const used = z.object({
  Id: z.string(),
  MetricStat: z.object({
    Metric: z.object({ Namespace: z.string(), MetricName: z.string(), Dimensions: z.optional(z.unknown()) }),
    Period: z.int(),
    Stat: z.string(),
  }),
  ReturnData: z.literal(false),
});
/** An expression and the metric in it, of which it may use the count besides. */
const filledMetric = z.tuple([z.object({ Expression: z.string() }), used], used);
const dimensionsOf = (list: unknown): Dimensions =>
  Object.fromEntries(
    z
      .array(z.object({ Name: z.string(), Value: z.unknown() }))
      .parse(list)
      .map(({ Name, Value }) => [Name, Value]),
  );

/** Statistic, comparison, period and urgency of an alarm; missing data is no breach unless it says so. */
const conditionOf = ({ Properties }: Resource): readonly [metric: string, condition: string] => {
  const filled = filledMetric.safeParse(Properties.Metrics).data;
  const watched = filled
    ? { ...filled[1].MetricStat, ...filled[1].MetricStat.Metric, filledBy: filled[0].Expression }
    : { Stat: Properties.Statistic, Period: Properties.Period, MetricName: Properties.MetricName, filledBy: undefined };
  const { ComparisonOperator, Threshold, EvaluationPeriods, TreatMissingData } = Properties;
  const compares = { GreaterThanThreshold: ">", LessThanThreshold: "<" }[String(ComparisonOperator)];
  const periods = `${Properties.DatapointsToAlarm ?? EvaluationPeriods} of ${EvaluationPeriods} x ${watched.Period} s`;
  const missing = [watched.filledBy, TreatMissingData === "notBreaching" ? undefined : TreatMissingData];
  const topic = everything.all("AWS::SNS::Topic").find(({ id }) => mentions(Properties.AlarmActions ?? [], id));
  const urgency = topic && (topic.Properties.DisplayName === "Alarms of prod" ? "page" : "ticket");
  const condition = [`${watched.Stat} ${compares} ${Threshold}`, periods, ...missing, urgency].filter(
    (part) => part !== undefined,
  );
  return [String(watched.MetricName), condition.join(", ")];
};

const REPEATED = "Sum > 0, 3 of 12 x 300 s";
const DAILY = "of 24 x 3600 s, ticket";
const ONCE = "Sum > 0, 1 of 1 x 300 s";
const SILENT = "Sum < 0, 3 of 3 x 300 s, FILL(m, -1), breaching";
/** Of a metric that each run writes. */
const NO_RUN = "Maximum < 0, 3 of 3 x 300 s, FILL(m, -1), breaching, page";
/** One that is a part of `SellsNothing`, or rolls a version back, notifies nobody. */
const conditions: Readonly<Record<string, readonly string[]>> = {
  Alarms: [ONCE, `${ONCE}, page`, `${ONCE}, ticket`, REPEATED, `Sum > 0, 3 ${DAILY}`],
  OldestOpenSeconds: ["Maximum > 900, 1 of 1 x 300 s, ticket", NO_RUN],
  OpenOver24Hours: ["Maximum > 0, 1 of 1 x 300 s, page"],
  StuckTransactions: ["Maximum > 10, 1 of 1 x 300 s, page"],
  OldestUnrefundedSeconds: ["Maximum > 900, 1 of 1 x 300 s, ticket"],
  LedgerMismatches: ["Maximum > 0, 1 of 1 x 300 s, page"],
  OldestQueuedSeconds: ["Maximum > 450, 1 of 1 x 300 s, ticket", NO_RUN],
  FloatHoursLeft: ["Minimum < 12, 1 of 1 x 300 s, page"],
  EndedIn30sPercent: ["Minimum < 90, 1 of 1 x 300 s, ticket"],
  "ServerErrors-prod": [`${REPEATED}, page`],
  "GatewayThrottles-prod": [`${REPEATED}, page`],
  "PurchasesFailed-prod": [
    "Average > 0.5, 3 of 12 x 300 s, IF(n >= 3, m, 0), ticket",
    `Average > 0.5, 5 ${DAILY}`,
    "Average > 0.9, 3 of 12 x 300 s, IF(n >= 3, m, 0)",
  ],
  "ConsoleRefusals-prod": ["Sum > 10, 1 of 1 x 300 s, ticket"],
  Errors: ["Sum > 0, 1 of 1 x 60 s", `${REPEATED}, ticket`],
  Faults: ["Sum > 0, 1 of 1 x 60 s"],
  Throttles: [`${ONCE}, ticket`],
  IncomingBytes: ["Sum > 200000000, 1 of 1 x 3600 s, ticket"],
  Invocations: [`${SILENT}, ticket`],
  PolledEventCount: [`${SILENT}, page`, `${SILENT}, ticket`],
  IteratorAge: ["Maximum > 300000, 3 of 12 x 300 s, page"],
  // The first two are of dead letters.
  ApproximateNumberOfMessagesVisible: [
    ...["page", "ticket"].map((urgency) => `Maximum > 0, 1 of 1 x 60 s, ${urgency}`),
    "Minimum > 1000, 1 of 1 x 300 s, ticket",
  ],
  ApproximateAgeOfOldestMessage: ["page", "ticket"].map((urgency) => `Maximum > 900, 1 of 1 x 300 s, ${urgency}`),
  ApproximateNumberOfMessagesNotVisible: ["Maximum > 60000, 1 of 1 x 300 s, ticket"],
  ReadThrottleEvents: [`${REPEATED}, FILL(m, 0), page`],
  WriteThrottleEvents: [`${REPEATED}, FILL(m, 0), page`],
};

test("each alarm has the condition of its metric: what a person hears of neither late nor in vain", () => {
  const all = everything.all("AWS::CloudWatch::Alarm").map(conditionOf);
  const found = Map.groupBy(all, ([metric]) => metric);
  const distinct = [...found].map(([metric, each]) => [metric, [...new Set(each.map(([, of]) => of))].toSorted()]);
  expect(Object.fromEntries(distinct)).toEqual(
    Object.fromEntries(Object.entries(conditions).map(([metric, each]) => [metric, each.toSorted()])),
  );
});

/** The alarms on a metric of such a line. */
const alarmsOn = (read: z.output<typeof line>, name: string) => {
  const [{ Namespace, Dimensions }] = read._aws.CloudWatchMetrics;
  const dimensions = new Map(Dimensions[0].map((dimension) => [dimension, read[dimension]]));
  const alarmDimensions = z.array(z.object({ Name: z.string(), Value: z.unknown() }));
  return alarms.filter(({ Properties }) => {
    if (Properties.MetricName !== name || Properties.Namespace !== Namespace) return false;
    const own = new Map(alarmDimensions.parse(Properties.Dimensions).map(({ Name, Value }) => [Name, Value]));
    return own.size === dimensions.size && [...own].every(([key, value]) => dimensions.get(key) === value);
  });
};

describe("a metric in a function's log", () => {
  test.each([
    ["OldestOpenSeconds", 1],
    ["OpenOver24Hours", 1],
    ["EndedIn30sPercent", 1],
    ["StuckTransactions", 1],
    ["OldestUnrefundedSeconds", 1],
    ["LedgerMismatches", 1],
  ])("%s has the dimensions and namespace of its alarms", (name, count) => {
    const read = loggedLine(() => putMetrics({ [name]: 7 }, 1_700_000_000_000));
    expect(read[name]).toBe(7);
    expect(alarmsOn(read, name)).toHaveLength(count);
  });

  test("an event of log.alarm has the dimensions of its own alarm, and is a log line like any other", () => {
    const read = loggedLine(() => log.alarm("order.outcome_not_recorded", { reference: "DATA_1", error: "Error" }));
    expect(read).toMatchObject({ level: "error", event: "order.outcome_not_recorded", reference: "DATA_1", Alarms: 1 });
    const [alarm, ...others] = alarmsOn(read, "Alarms");
    expect(alarm?.Properties.AlarmDescription).toContain("Log event: order.outcome_not_recorded.");
    expect(others).toEqual([]);
  });
});

/** An adopted table has the name of its settings. */
const adoptedTables: Readonly<Record<string, string>> = { access: "access", ledger: "ledger", audit: "audit" };

describe.each([
  ["prod", {}, ({ TableName }: Dimensions) => resourceName(TableName).toLowerCase()],
  [
    "a stage that adopts its tables",
    stageVariants.adopted?.[1],
    ({ TableName }: Dimensions) =>
      Object.keys(adoptedTables).find((name) => adoptedTables[name] === TableName) ??
      resourceName(TableName).toLowerCase(),
  ],
])("throttles of DynamoDB in %s", (_, changes, tableOf) => {
  const throttles = templatesOf("prod", changes)
    .service.all("AWS::CloudWatch::Alarm")
    .map(({ Properties }) => ({ Properties, filled: filledMetric.safeParse(Properties.Metrics).data }))
    .filter(({ filled }) => filled?.[1].MetricStat.Metric.Namespace === "AWS/DynamoDB");
  const targets = Object.entries<TableShape>(tables).flatMap(([name, { indexes }]) =>
    [undefined, ...indexes.map((each) => each.name)].map((index) => [name, index] as const),
  );

  test.each(targets)("a throttled read or write of %s, index %s, raises an alarm of its own", (name, index) => {
    const own = throttles.filter((alarm) => {
      const parsed = dimensionsOf(alarm.filled?.[1].MetricStat.Metric.Dimensions);
      return tableOf(parsed) === name && parsed.GlobalSecondaryIndexName === index;
    });
    expect(own.map(({ filled }) => filled?.[1].MetricStat.Metric.MetricName)).toEqual([
      "ReadThrottleEvents",
      "WriteThrottleEvents",
    ]);
  });

  test("no other resource of DynamoDB has an alarm, and none is on a metric of DynamoDB that is not filled", () => {
    expect(throttles).toHaveLength(2 * targets.length);
    const others = templatesOf("prod", changes).service.all("AWS::CloudWatch::Alarm");
    expect(others.filter(({ Properties }) => Properties.Namespace === "AWS/DynamoDB")).toEqual([]);
  });
});

test.each([
  ["15 minutes", {}, 450],
  ["none", stageVariants["every setting, in an existing VPC"]?.[1], 300],
])("the alarm on queued orders follows the minutes for which they may wait: %s", (_, settings, threshold) => {
  const [alarm, ...others] = templatesOf("prod", settings)
    .service.all("AWS::CloudWatch::Alarm")
    .filter(({ Properties }) => Properties.MetricName === "OldestQueuedSeconds");
  expect(others).toEqual([]);
  expect(alarm?.Properties).toMatchObject({ Threshold: threshold, TreatMissingData: "notBreaching" });
  expect(alarm?.Properties.AlarmDescription).toContain("admin transactions list --waiting");
});

const joined = z.object({ "Fn::Join": z.tuple([z.literal(""), z.array(z.unknown())]) });
const alarmLists = z.object({
  widgets: z.array(
    z.object({ type: z.string(), properties: z.object({ alarms: z._default(z.array(z.unknown()), []) }) }),
  ),
});

test("the dashboard's lists show every alarm that notifies, and CloudWatch accepts 100 in one", () => {
  const { service } = templatesOf("prod");
  const own = alarms.filter(({ Properties }) => Properties.AlarmName === undefined);
  const notifying = [...own, ...service.all("AWS::CloudWatch::CompositeAlarm")];
  const [dashboard] = service.all("AWS::CloudWatch::Dashboard");
  const shown = notifying.filter(({ id }) => mentions(dashboard?.Properties.DashboardBody, id));
  expect(shown).toEqual(notifying);
  const [, parts] = joined.parse(dashboard?.Properties.DashboardBody)["Fn::Join"];
  const body: unknown = JSON.parse(parts.map((part) => (typeof part === "string" ? part : "REFERENCE")).join(""));
  const lengths = alarmLists.parse(body).widgets.map(({ properties }) => properties.alarms.length);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(100);
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(notifying.length);
});

test("a domain's certificate writes a ticket 30 days before its end, which stays when it has ended and AWS measures nothing", () => {
  const { service } = templatesOf("prod", { domain: aDomain });
  const found = service
    .all("AWS::CloudWatch::Alarm")
    .filter(({ Properties }) => Properties.MetricName === "DaysToExpiry");
  expect(found.map(({ Properties }) => [Properties.Namespace, Properties.Dimensions])).toEqual([
    ["AWS/CertificateManager", [{ Name: "CertificateArn", Value: aDomain.certificateArn }]],
  ]);
  expect(found.map(conditionOf)).toEqual([["DaysToExpiry", "Minimum < 30, 1 of 1 x 86400 s, ignore, ticket"]]);
  expect(alarms.some(({ Properties }) => Properties.MetricName === "DaysToExpiry")).toBe(false);
});
