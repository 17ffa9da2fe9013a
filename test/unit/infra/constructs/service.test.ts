import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as z from "#zod";
import type { IdleRun } from "../../../../functions/function-spec.ts";
import { functionSpecs } from "../../../../functions/specs.ts";
import { consoleRoutesOf } from "../../../../infra/console-routes.ts";
import { functionNames, specOf } from "../../../../infra/functions.ts";
import { scheduledFunctions, scheduleOf } from "../../../../infra/schedules.ts";
import { streamConsumers } from "../../../../infra/streams.ts";
import { isOrder, type Route, routeKey } from "../../../../shared/contract/route.ts";
import { routes } from "../../../../shared/contract/routes.ts";
import { variableSchema } from "../../../../shared/platform/env.ts";
import type { LogEventSpec } from "../../../../shared/platform/log-catalog.ts";
import { logEvents } from "../../../../shared/platform/log-events.ts";
import { parseUpstreamProfile } from "../../../../shared/upstream/profile.ts";
import { matchesFilter } from "../../../builders/cloudwatch/filter-pattern.ts";
import { aConsole, everyFunction } from "../../../builders/templates/console.ts";
import { stageVariants } from "../../../builders/templates/stage-variants.ts";
import {
  functionIn,
  idIn,
  mentions,
  type Resource,
  type StackTemplate,
  templatesOf,
} from "../../../builders/templates/templates.ts";

const metricStat = z.object({
  Metric: z.object({
    MetricName: z.string(),
    Dimensions: z._default(z.array(z.object({ Name: z.string(), Value: z.unknown() })), []),
  }),
  Period: z.int(),
  Stat: z.string(),
});
const { service, data } = templatesOf("prod", everyFunction);
const { service: changed } = templatesOf("prod", stageVariants["every setting, in an existing VPC"]?.[1]);
const functions = service.all("AWS::Lambda::Function");
/** Those of a release have a name of their own, and notify nobody. */
const alarms = service.all("AWS::CloudWatch::Alarm").filter(({ Properties }) => Properties.AlarmName === undefined);

/** `prod-airtime-purchase` is functions/purchase. */
const nameOf = ({ Properties }: Resource): string =>
  z
    .string()
    .parse(Properties.FunctionName)
    .replace(/^prod-airtime-/, "");
const environment = z._default(z.object({ Variables: z.record(z.string(), z.unknown()) }), { Variables: {} });
const variablesOf = ({ Properties }: Resource): Readonly<Record<string, unknown>> =>
  environment.parse(Properties.Environment).Variables;
const functionAt = (reference: unknown): string => nameOf(functionIn(service, reference));
const alarmsOf = (id: string): readonly Resource[] => alarms.filter(({ Properties }) => mentions(Properties, id));

/** Its metric has no values while nothing runs. */
const isSilenceAlarm = (alarm: Resource | undefined): boolean => expressionOf(alarm) === "FILL(m, -1)";
const math = z.tuple(
  [z.object({ Expression: z.string() }), z.object({ Id: z.literal("m"), MetricStat: metricStat })],
  z.unknown(),
);
const expressionOf = (alarm: Resource | undefined): string | undefined =>
  math.safeParse(alarm?.Properties.Metrics).data?.[0].Expression;
/** The metric of an alarm, which may be filled. */
const metricOf = (alarm: Resource | undefined) => math.parse(alarm?.Properties.Metrics)[1].MetricStat;

describe("functions", () => {
  test("there is one function for each folder of functions/, and no other", () => {
    const entries = readdirSync(new URL("../../../../functions", import.meta.url), { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    expect(functions.map(nameOf).sort()).toEqual(folders.sort());
    expect([...functionNames].sort()).toEqual(folders.sort());
  });

  test.each(functionNames)("%s has exactly the environment variables that it parses", (name) => {
    const own = functions.filter((each) => nameOf(each) === name);
    const names = own.map((each) => new Set(Object.keys(variablesOf(each))));
    expect(names).toEqual([new Set<string>(specOf(name).environment)]);
  });

  test("the functions can parse every variable that comes from the settings", () => {
    const literals = functionNames.flatMap((name) => {
      const own = functions.find((each) => nameOf(each) === name);
      const variables = own === undefined ? {} : variablesOf(own);
      return (specOf(name).environment ?? []).flatMap((variable) => {
        const value = variables[variable];
        return typeof value === "string" ? [{ variable, value }] : [];
      });
    });
    expect(literals.map(({ variable }) => variable)).toContain("IDENTITY_PRICES");
    for (const { variable, value } of literals) {
      expect(variableSchema(variable).safeParse(value).success, variable).toBe(true);
    }
  });

  test("receive-upstream-event has the signature of the stage's upstreamProfile, and none if the profile has none", () => {
    const signatureIn = ({ all }: typeof service): unknown => {
      const own = all("AWS::Lambda::Function").find((each) => nameOf(each) === "receive-upstream-event");
      return parseUpstreamProfile(z.string().parse(own && variablesOf(own).UPSTREAM_PROFILE)).signature;
    };
    expect(signatureIn(service)).toBeUndefined();
    expect(signatureIn(changed)).toMatchObject({ header: "x-signature", encoding: "hex" });
  });

  test("every function has its spec's time-out, Node 24 on arm64, logs for the stage's logRetentionDays, and cannot create log groups", () => {
    for (const each of functions) {
      const { Properties } = each;
      const name = functionNames.find((known) => known === nameOf(each));
      const Timeout = name && functionSpecs[name].timeoutS;
      expect(Properties).toMatchObject({ Timeout, Runtime: "nodejs24.x", Architectures: ["arm64"] });
      const { LogGroup } = z.object({ LogGroup: z.unknown() }).parse(Properties.LoggingConfig);
      expect(service.get(idIn(LogGroup)).Properties.RetentionInDays).toBe(90);
    }
    expect(JSON.stringify(service.every)).not.toContain("logs:CreateLogGroup");
  });

  test("tracing active makes every function record traces, which it may send, and without it no function may", () => {
    for (const { Properties } of changed.all("AWS::Lambda::Function")) {
      expect(Properties.TracingConfig).toEqual({ Mode: "Active" });
      const policy = changed
        .all("AWS::IAM::Policy")
        .find((each) => mentions(each.Properties.Roles, idIn(Properties.Role)));
      expect(
        z.object({ Statement: z.array(z.unknown()) }).parse(policy?.Properties.PolicyDocument).Statement,
      ).toContainEqual({
        Action: ["xray:PutTraceSegments", "xray:PutTelemetryRecords"],
        Effect: "Allow",
        Resource: "*",
      });
    }
    expect(JSON.stringify(service.every)).not.toMatch(/TracingConfig|xray/);
  });

  test.each(functionNames)(
    "%s has an alarm on throttles, and one on errors that says what a customer loses",
    (name) => {
      const own = functions.find((each) => nameOf(each) === name);
      const alarmsOn = (metric: string) =>
        alarmsOf(own?.id ?? "").filter(({ Properties }) => Properties.MetricName === metric);
      expect(alarmsOn("Throttles").map(({ Properties }) => Properties.Threshold)).toEqual([0]);
      expect(alarmsOn("Errors").map(({ Properties }) => Properties.AlarmDescription)).toEqual([
        expect.stringContaining(functionSpecs[name].impact),
      ]);
    },
  );
});

describe("the API", () => {
  const consoleRoutes = consoleRoutesOf({ console: aConsole });
  const integrations = new Map(
    service
      .all("AWS::ApiGatewayV2::Integration")
      .map(({ id, Properties }) => [id, functionAt(Properties.IntegrationUri)]),
  );
  const served = service.all("AWS::ApiGatewayV2::Route").map(({ Properties }): [string, string | undefined] => {
    const [, integration] = z
      .object({ "Fn::Join": z.tuple([z.string(), z.tuple([z.string(), z.unknown()])]) })
      .parse(Properties.Target)["Fn::Join"][1];
    return [z.string().parse(Properties.RouteKey), integrations.get(idIn(integration))];
  });

  test("every route of all tables has its function, the default route has not-found, and there is no other route", () => {
    const expected = [
      ...Object.values<Route>(routes).map((route): [string, string] => [routeKey(route), route.function]),
      ...consoleRoutes.map((route): [string, string] => [routeKey(route), route.function]),
    ];
    expect(served.length).toBe(expected.length + 1);
    expect(new Map(served)).toEqual(new Map([...expected, ["$default", "not-found"]]));
  });

  const settings = z.record(
    z.string(),
    z.object({ ThrottlingRateLimit: z.number(), ThrottlingBurstLimit: z.number() }),
  );
  const ratesIn = (template: StackTemplate): Record<string, number> => {
    const [stage] = template.all("AWS::ApiGatewayV2::Stage");
    const limits = Object.entries(settings.parse(stage?.Properties.RouteSettings));
    for (const [, limit] of limits) expect(limit.ThrottlingBurstLimit).toBe(limit.ThrottlingRateLimit);
    return Object.fromEntries(limits.map(([key, { ThrottlingRateLimit }]) => [key, ThrottlingRateLimit]));
  };

  test("every route has a rate limit of its own, and only orders may use the stage's whole limit", () => {
    const limits = ratesIn(service);
    expect(new Set(Object.keys(limits))).toEqual(new Set(served.map(([key]) => key)));
    for (const route of Object.values<Route>(routes)) {
      const share = isOrder(route) ? 1 : route.document ? 0.01 : 0.5;
      expect(limits[routeKey(route)], route.path).toBe(200 * share);
    }
    for (const route of consoleRoutes) expect(limits[routeKey(route)], route.path).toBe(200 * route.share);
    expect(Math.max(...consoleRoutes.map(({ share }) => share))).toBeLessThan(0.5);
    const low = ratesIn(changed);
    for (const route of consoleRoutes) expect(low[routeKey(route)], route.path).toBe(20);
    expect(limits.$default).toBe(20);
    expect(Math.min(...Object.values(low))).toBe(1);
  });

  test("the stage is made after its routes, because API Gateway refuses limits of an unknown route", () => {
    const [stage] = service.all("AWS::ApiGatewayV2::Stage");
    const made = service.all("AWS::ApiGatewayV2::Route").map(({ id }) => id);
    expect(stage?.DependsOn).toEqual(expect.arrayContaining(made));
  });

  describe("the metrics of the access log", () => {
    const filters = new Map(
      service
        .all("AWS::Logs::MetricFilter")
        .filter(({ Properties }) => idIn(Properties.LogGroupName).startsWith("Api"))
        .map(({ Properties }) => [
          z.tuple([z.object({ MetricName: z.string() })]).parse(Properties.MetricTransformations)[0].MetricName,
          z.string().parse(Properties.FilterPattern),
        ]),
    );
    /** The metrics that count a line of the access log, which API Gateway writes as the stage's format says. */
    const countedBy = (line: { readonly route: string; readonly status: number; readonly answered: string }) => {
      const event = JSON.stringify({ ...line, request_id: "r", status: String(line.status), latency_ms: "1" });
      return [...filters].flatMap(([metric, pattern]) => (matchesFilter(pattern, event) ? [metric] : []));
    };
    const all = Object.values<Route>(routes);
    const throttles = ["GatewayThrottles-prod"];

    test.each(all.filter(({ document }) => document === undefined).map(routeKey))(
      "a 429 of the gateway on %s is counted, and one of the function is not",
      (route) => {
        expect(countedBy({ route, status: 429, answered: "-" })).toEqual(throttles);
        expect(countedBy({ route, status: 429, answered: "429" })).toEqual([]);
      },
    );

    test.each([
      ...all.filter(({ document }) => document !== undefined).map(routeKey),
      ...consoleRoutes.map(routeKey),
      "$default",
    ])("nobody can raise an alarm with requests to %s, of which no app loses anything", (route) => {
      expect(countedBy({ route, status: 429, answered: "-" })).toEqual([]);
    });

    test("a 500 is counted, and another 5xx if no function returned it", () => {
      const route = "POST /v1/vtu/data/purchase";
      expect(countedBy({ route, status: 503, answered: "-" })).toEqual(["ServerErrors-prod"]);
      expect(countedBy({ route, status: 500, answered: "500" })).toEqual(["ServerErrors-prod"]);
      expect(countedBy({ route, status: 502, answered: "502" })).toEqual([]);
      expect(countedBy({ route: "POST /console-api/{path+}", status: 500, answered: "500" })).toEqual([]);
    });

    // Source: AWS, "CloudWatch Logs quotas", metric filters.
    test.each([...filters])("the pattern of %s has at most 1,024 characters", (_metric, pattern) => {
      expect(pattern.length).toBeLessThanOrEqual(1_024);
    });

    test.each([...filters.keys()])("%s has one alarm", (metric) => {
      expect(alarms.filter(({ Properties }) => Properties.MetricName === metric)).toHaveLength(1);
    });
  });

  test("the access log has routes and never paths, because one path contains a secret", () => {
    const [stage] = service.all("AWS::ApiGatewayV2::Stage");
    const { Format } = z.object({ Format: z.string() }).parse(stage?.Properties.AccessLogSettings);
    expect(Format).toContain("$context.routeKey");
    expect(Format).not.toMatch(/\$context\.(path|http\.path|protocol|identity\.(?!sourceIp"))/);
  });
});

describe("queues", () => {
  const queues = service.all("AWS::SQS::Queue");
  const redrive = z.object({ deadLetterTargetArn: z.unknown(), maxReceiveCount: z.int().check(z.positive()) });
  const sources = service
    .all("AWS::Lambda::EventSourceMapping")
    .filter(({ Properties }) => !mentions(Properties.EventSourceArn, "Fn::ImportValue"));

  test("every queue with a consumer has dead letters with an alarm, and a visibility timeout of six times the time-out", () => {
    expect(sources.map(({ Properties }) => functionAt(Properties.FunctionName)).sort()).toEqual([
      "apply-upstream-event",
      "deliver-webhook",
    ]);
    for (const { Properties } of sources) {
      const queue = service.get(idIn(Properties.EventSourceArn));
      const worker = functionIn(service, Properties.FunctionName);
      const deadLetters = service.get(idIn(redrive.parse(queue.Properties.RedrivePolicy).deadLetterTargetArn));
      expect(alarmsOf(queue.id).length + alarmsOf(deadLetters.id).length).toBeGreaterThan(0);
      expect(deadLetters.Properties.QueueName).toBe(`${queue.Properties.QueueName}-dead-letters`);
      expect(queue.Properties.VisibilityTimeout).toBeGreaterThanOrEqual(6 * z.int().parse(worker.Properties.Timeout));
      expect(Properties.FunctionResponseTypes).toEqual(["ReportBatchItemFailures"]);
    }
  });

  const concurrencyIn = (template: typeof service): Record<string, unknown> => {
    const limited = z.object({ ScalingConfig: z.object({ MaximumConcurrency: z.int() }) });
    const mappings = template
      .all("AWS::Lambda::EventSourceMapping")
      .filter(({ Properties }) => Properties.ScalingConfig);
    return Object.fromEntries(
      mappings.map(({ Properties }) => [
        nameOf(functionIn(template, Properties.FunctionName)),
        limited.parse(Properties).ScalingConfig.MaximumConcurrency,
      ]),
    );
  };

  test("every queue's consumer has a limit of concurrency, which maxConcurrency changes", () => {
    expect(concurrencyIn(service)).toEqual({ "apply-upstream-event": 10, "deliver-webhook": 20 });
    expect(concurrencyIn(changed)).toEqual({ "apply-upstream-event": 2, "deliver-webhook": 2 });
  });

  test("every queue with a consumer has alarms on its oldest message, its length and its messages in flight", () => {
    for (const { Properties } of sources) {
      const own = alarmsOf(idIn(Properties.EventSourceArn)).map((alarm) => String(alarm.Properties.MetricName));
      expect(own.toSorted()).toEqual([
        "ApproximateAgeOfOldestMessage",
        "ApproximateNumberOfMessagesNotVisible",
        "ApproximateNumberOfMessagesVisible",
      ]);
    }
  });

  test("every queue keeps messages for 14 days, and has dead letters or is a dead-letter queue, which has one alarm", () => {
    expect(queues.length).toBeGreaterThanOrEqual(6);
    for (const { id, Properties } of queues) {
      expect(Properties.MessageRetentionPeriod, id).toBe(14 * 86_400);
      if (Properties.RedrivePolicy !== undefined) continue;
      const [alarm, ...others] = alarmsOf(id);
      expect(others, id).toEqual([]);
      expect(alarm?.Properties, id).toMatchObject({ Threshold: 0, ComparisonOperator: "GreaterThanThreshold" });
    }
  });
});

describe("the ledger stream", () => {
  const mappings = service
    .all("AWS::Lambda::EventSourceMapping")
    .filter(({ Properties }) => mentions(Properties.EventSourceArn, "Fn::ImportValue"));
  const mappingOf = (name: string) => mappings.find(({ Properties }) => functionAt(Properties.FunctionName) === name);
  const mapping = mappingOf(streamConsumers.webhooks.consumer);

  test("the ledger stream feeds enqueue-webhooks, with unlimited retries, dead letters and an alarm on its age", () => {
    expect(mappings).toHaveLength(Object.keys(streamConsumers).length);
    expect(mapping?.Properties).toMatchObject({
      StartingPosition: "TRIM_HORIZON",
      BisectBatchOnFunctionError: true,
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      MaximumRetryAttempts: -1,
      MaximumRecordAgeInSeconds: 82_800,
      FilterCriteria: { Filters: streamConsumers.webhooks.patterns.map((each) => ({ Pattern: JSON.stringify(each) })) },
    });
    const { OnFailure } = z
      .object({ OnFailure: z.object({ Destination: z.unknown() }) })
      .parse(mapping?.Properties.DestinationConfig);
    expect(alarmsOf(idIn(OnFailure.Destination))).toHaveLength(1);
    expect(alarms.filter(({ Properties }) => Properties.MetricName === "IteratorAge")).toHaveLength(1);
    const streamed = data.all("AWS::DynamoDB::Table").filter(({ Properties }) => Properties.StreamSpecification);
    expect(streamed.map(({ id }) => id.slice(0, 5))).toEqual(["Ledge", "Audit"]);
  });

  test("the audit table's stream feeds attest-audit, retried for almost as long as AWS keeps a change", () => {
    expect(mappingOf(streamConsumers.attestations.consumer)?.Properties).toMatchObject({
      EventSourceArn: { "Fn::ImportValue": expect.stringContaining("Audit") },
      StartingPosition: "TRIM_HORIZON",
      MaximumRetryAttempts: -1,
      MaximumRecordAgeInSeconds: 82_800,
    });
  });

  test("the ledger stream feeds count-transactions once a minute, without dead letters and alarms of its own", () => {
    const statistics = mappingOf(streamConsumers.statistics.consumer);
    expect(statistics?.Properties).toMatchObject({
      StartingPosition: "LATEST",
      BatchSize: 1_000,
      MaximumBatchingWindowInSeconds: 60,
      MaximumRetryAttempts: -1,
      MaximumRecordAgeInSeconds: 21_600,
      FilterCriteria: {
        Filters: streamConsumers.statistics.patterns.map((each) => ({ Pattern: JSON.stringify(each) })),
      },
    });
    for (const name of ["DestinationConfig", "MetricsConfig", "FunctionResponseTypes"]) {
      expect(statistics?.Properties, name).not.toHaveProperty(name);
    }
  });

  test("each mapping of a stream but that of the statistics counts what it polls, and an alarm notifies when it polls no more", () => {
    const { statistics: _, ...watched } = streamConsumers;
    const ids = Object.values(watched).map(({ consumer }) => {
      const each = mappingOf(consumer);
      expect(each?.Properties.MetricsConfig, consumer).toEqual({ Metrics: ["EventCount"] });
      return each?.id;
    });
    const silent = alarms.filter(({ Properties }) => mentions(Properties, "PolledEventCount"));
    expect(silent.every(isSilenceAlarm)).toBe(true);
    expect(silent.flatMap((alarm) => metricOf(alarm).Metric.Dimensions)).toEqual(
      ids.map((id) => ({ Name: "EventSourceMappingUUID", Value: { Ref: id } })),
    );
  });
});

const schedulesOf = ({ all }: StackTemplate): readonly Resource[] =>
  all("AWS::Events::Rule").filter(({ Properties }) => Properties.ScheduleExpression !== undefined);

/** The metric that each run of a scheduled function writes, if it writes one. */
const runMetrics = new Map<string, string | undefined>(
  scheduledFunctions.map((name) => {
    const { metric }: IdleRun = scheduleOf(name).idleRun;
    return [name, metric];
  }),
);

test("scheduled functions are invoked each minute, which is the retry, with dead letters and an alarm if one is not invoked", () => {
  const ofAMinute = { MaximumEventAgeInSeconds: 60 };
  const asynchronous = service.all("AWS::Lambda::EventInvokeConfig").map(({ Properties }) => {
    expect(Properties).toMatchObject({ ...ofAMinute, MaximumRetryAttempts: 0 });
    return functionAt(Properties.FunctionName);
  });
  expect(asynchronous.sort()).toEqual([...scheduledFunctions].sort());
  const invoked = schedulesOf(service).map(({ Properties }) => {
    expect(Properties.ScheduleExpression).toBe("rate(1 minute)");
    const [target] = z
      .tuple([
        z.object({ Arn: z.unknown(), DeadLetterConfig: z.object({ Arn: z.unknown() }), RetryPolicy: z.unknown() }),
      ])
      .parse(Properties.Targets);
    // By default EventBridge would go on for a day.
    expect(target.RetryPolicy).toEqual({ ...ofAMinute, MaximumRetryAttempts: 2 });
    expect(alarmsOf(idIn(target.DeadLetterConfig.Arn))).toHaveLength(1);
    const name = functionAt(target.Arn);
    const metric = runMetrics.get(name);
    const [silent, ...others] = alarms.filter(
      (alarm) =>
        isSilenceAlarm(alarm) &&
        (metric === undefined
          ? mentions(alarm.Properties, idIn(target.Arn))
          : metricOf(alarm).Metric.MetricName === metric),
    );
    expect(metricOf(silent)).toMatchObject({ Metric: { MetricName: metric ?? "Invocations" }, Period: 300 });
    expect(others).toEqual([]);
    return name;
  });
  expect(invoked.sort()).toEqual([...scheduledFunctions].sort());
});

describe("workers off", () => {
  const nameIn = (reference: unknown): string => nameOf(functionIn(changed, reference));

  test("a stage with workers off leaves messages in their queues, and still consumes the stream", () => {
    const enabled = changed.all("AWS::Lambda::EventSourceMapping").map(({ Properties }) => {
      return [nameIn(Properties.FunctionName), Properties.Enabled ?? true];
    });
    expect(Object.fromEntries(enabled)).toEqual({
      "apply-upstream-event": false,
      "attest-audit": true,
      "copy-audit": true,
      "count-transactions": true,
      "deliver-webhook": false,
      "enqueue-webhooks": true,
    });
  });

  test("a stage with workers off disables all schedules but that of refresh-catalog", () => {
    const target = z.tuple([z.object({ Arn: z.unknown() })]);
    const schedules = schedulesOf(changed);
    expect(schedules.length).toBeGreaterThan(4);
    const enabled = schedules.filter(({ Properties }) => Properties.State !== "DISABLED");
    expect(enabled.map(({ Properties }) => nameIn(target.parse(Properties.Targets)[0].Arn))).toEqual([
      "refresh-catalog",
    ]);
  });

  test("the outputs have the stage's setting of workers, for the admin commands", () => {
    expect(changed.outputs.Workers?.Value).toBe("off");
    expect(service.outputs.Workers?.Value).toBe("on");
  });
});

describe("alarms", () => {
  const composites = service.all("AWS::CloudWatch::CompositeAlarm");
  const topics = service.all("AWS::SNS::Topic");
  const topicNamed = (name: string) => topics.filter(({ Properties }) => Properties.DisplayName === name).map(idOf);
  const idOf = ({ id }: Resource): string => id;
  const [pages] = topicNamed("Alarms of prod");
  const [tickets] = topicNamed("Tickets of prod");
  const isPart = ({ id }: Resource): boolean => composites.some(({ Properties }) => mentions(Properties.AlarmRule, id));
  const notifies = ({ Properties }: Resource, topic: string | undefined): boolean =>
    topic !== undefined && mentions(Properties.AlarmActions ?? [], topic);
  const isDaily = ({ Properties }: Resource): boolean => Properties.EvaluationPeriods === 24;
  const eventOf = ({ Properties }: Resource): string | undefined =>
    / Log event: (\S+)\.$/.exec(String(Properties.AlarmDescription))?.[1];

  test("every alarm has a text, and notifies one topic when it is raised and when it ends, or is a part of one that does", () => {
    expect(alarms.length).toBeGreaterThan(60);
    for (const alarm of [...alarms, ...composites]) {
      const { Properties, id } = alarm;
      expect(Properties.AlarmDescription, id).toMatch(/^.{30,}\.$/s);
      expect(Properties.OKActions, id).toEqual(Properties.AlarmActions);
      const notified = [pages, tickets].filter((topic) => notifies(alarm, topic));
      expect(notified, id).toHaveLength(isPart(alarm) ? 0 : 1);
    }
  });

  test("an alarm on a log event has the urgency of the event; one that only pages if it is repeated has a ticket besides", () => {
    const events = Object.entries<LogEventSpec>(logEvents).filter(([, { level }]) => level === "alarm");
    expect(new Set(alarms.map(eventOf).filter(Boolean))).toEqual(new Set(events.map(([event]) => event)));
    for (const [event, spec] of events) {
      const ofEvent = alarms.filter((each) => eventOf(each) === event);
      const [daily, [alarm, ...others]] = [ofEvent.filter(isDaily), ofEvent.filter((each) => !isDaily(each))];
      if (alarm === undefined) throw new Error(event);
      expect(others, event).toEqual([]);
      expect(daily.map((each) => notifies(each, tickets))).toEqual("repeated" in spec ? [true] : []);
      expect(isPart(alarm), event).toBe("stopsSales" in spec);
      if ("stopsSales" in spec) continue;
      expect(notifies(alarm, "urgency" in spec ? pages : tickets), event).toBe(true);
    }
  });

  test("an alarm whose text says that no customer loses anything needs nobody at night", () => {
    const harmless = alarms.filter(({ Properties }) =>
      /No customer loses|no app is affected|documentation is not served|404/.test(String(Properties.AlarmDescription)),
    );
    expect(harmless.length).toBeGreaterThan(20);
    expect(harmless.filter((alarm) => notifies(alarm, pages)).map(idOf)).toEqual([]);
  });

  test("all that stops sales notifies by one alarm, which pages", () => {
    const [sellsNothing, ...others] = composites;
    expect(others).toEqual([]);
    expect(sellsNothing && notifies(sellsNothing, pages)).toBe(true);
    expect(alarms.filter(isPart).map((each) => eventOf(each) ?? metricOf(each).Metric.MetricName)).toEqual([
      "PurchasesFailed-prod",
      "reference_key.differs",
      "identity_key.unusable",
      "purchases.unreadable",
      "purchases.still_off",
      "upstream.account_error",
      "upstream.unreachable",
    ]);
    expect(JSON.stringify(sellsNothing?.Properties.AlarmRule).match(/ALARM\(/g)).toHaveLength(7);
    expect(JSON.stringify(sellsNothing?.Properties.AlarmRule).match(/ OR /g)).toHaveLength(6);
  });

  test.each(["identity_key.unusable", "purchases.unreadable", "upstream.unreachable"])(
    "%s pages only if it is repeated",
    (event) => {
      const [alarm] = alarms.filter((each) => isPart(each) && eventOf(each) === event);
      expect(alarm?.Properties).toMatchObject({ EvaluationPeriods: 12, DatapointsToAlarm: 3 });
    },
  );

  test("an alarm on silence says after how long it is raised", () => {
    const silent = alarms.filter(isSilenceAlarm);
    const watched = Object.values(streamConsumers).filter((each) => "silence" in each);
    expect(silent).toHaveLength(scheduledFunctions.length + watched.length);
    for (const alarm of silent) {
      const minutes = (z.int().parse(alarm.Properties.EvaluationPeriods) * metricOf(alarm).Period) / 60;
      expect(alarm.Properties.AlarmDescription).toContain(`for ${minutes} minutes`);
    }
  });

  test("each topic has the address of its urgency, and both have the same one if the stage names one", () => {
    const addressesIn = ({ all }: StackTemplate) =>
      all("AWS::SNS::Subscription").map(({ Properties }) => [idIn(Properties.TopicArn), Properties.Endpoint]);
    expect(addressesIn(service)).toEqual([
      [pages, "operations@example.com"],
      [tickets, "operations@example.com"],
    ]);
    expect(addressesIn(changed)).toContainEqual([tickets, "tickets@example.com"]);
  });

  test("CloudWatch may publish to each topic of alarms, and not to that of notifications; an explicit policy replaces the default policy", () => {
    const policies = service.all("AWS::SNS::TopicPolicy").map(({ Properties }) => JSON.stringify(Properties));
    const byCloudWatch = policies.filter((policy) =>
      policy.includes('"Principal":{"Service":"cloudwatch.amazonaws.com"}'),
    );
    expect([policies.length, byCloudWatch.length]).toEqual([3, 2]);
    // Of this account alone: others could send false alarms.
    const ofAccount = '"Condition":{"StringEquals":{"aws:SourceAccount":';
    expect(byCloudWatch.filter((policy) => policy.includes(ofAccount))).toEqual(byCloudWatch);
  });
});
