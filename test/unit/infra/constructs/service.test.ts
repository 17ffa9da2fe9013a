import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { functionNames, functionSpecs } from "../../../../infra/functions.ts";
import { scheduledFunctions } from "../../../../infra/schedules.ts";
import { streams } from "../../../../infra/streams.ts";
import { type Route, routeKey, routes } from "../../../../shared/contract/routes.ts";
import { functionEnvironments } from "../../../../shared/platform/env.ts";
import { parseUpstreamSignature } from "../../../../shared/upstream-events/upstream-signature.ts";
import { idIn, mentions, type Resource, templatesOf } from "../../../builders/templates.ts";

const { service, data } = templatesOf("prod");
const functions = service.all("AWS::Lambda::Function");
const alarms = service.all("AWS::CloudWatch::Alarm");

/** `prod-airtime-purchase` is functions/purchase. */
const nameOf = ({ Properties }: Resource): string =>
  z
    .string()
    .parse(Properties.FunctionName)
    .replace(/^prod-airtime-/, "");
const functionAt = (reference: unknown): string => nameOf(service.get(idIn(reference)));
const alarmsOf = (id: string): readonly Resource[] => alarms.filter(({ Properties }) => mentions(Properties, id));

describe("functions", () => {
  test("there is one for each folder below functions/, and no other", () => {
    const folders = readdirSync(new URL("../../../../functions", import.meta.url));
    expect(functions.map(nameOf).sort()).toEqual(folders.sort());
    expect([...functionNames].sort()).toEqual(folders.sort());
  });

  test.each(functionNames)("%s is told what it parses, and nothing else", (name) => {
    const own = functions.find((each) => nameOf(each) === name);
    const told = z.object({ Variables: z.record(z.string(), z.unknown()) }).safeParse(own?.Properties.Environment);
    const parsed = Object.entries(functionEnvironments).find(([known]) => known === name)?.[1];
    expect(own).toBeDefined();
    expect(new Set(Object.keys(told.data?.Variables ?? {}))).toEqual(new Set(Object.keys(parsed?.shape ?? {})));
  });

  test("what comes from the settings can be parsed", () => {
    const told = z.object({ Variables: z.record(z.string(), z.unknown()) });
    const literals = functions.flatMap(({ Properties }) =>
      Object.entries(told.safeParse(Properties.Environment).data?.Variables ?? {}).flatMap(([name, value]) =>
        typeof value === "string" ? [[name, value] as const] : [],
      ),
    );
    const shape: Record<string, z.ZodType> = Object.assign(
      {},
      ...Object.values(functionEnvironments).map((each) => each.shape),
    );
    expect(new Set(literals.map(([name]) => name))).toContain("IDENTITY_PRICES");
    for (const [name, value] of literals) expect(shape[name]?.safeParse(value).success, name).toBe(true);
  });

  test("receive-upstream-event is told how the upstream signs, where the stage says so, and nothing where it does not", () => {
    const upstreamSignature = { header: "X-Provider-Signature", encoding: "base64", prefix: "v1=" };
    const told = ({ all }: typeof service): unknown => {
      const own = all("AWS::Lambda::Function").find((each) => nameOf(each) === "receive-upstream-event");
      const { Variables } = z
        .object({ Variables: z.object({ UPSTREAM_SIGNATURE: z.string() }) })
        .parse(own?.Properties.Environment);
      return parseUpstreamSignature(Variables.UPSTREAM_SIGNATURE);
    };
    expect(told(service)).toBeUndefined();
    expect(told(templatesOf("prod", { upstreamSignature }).service)).toEqual({
      ...upstreamSignature,
      header: "x-provider-signature",
    });
  });

  test("all run Node 24 on arm64, log for the time that the stage says, and may create no log group", () => {
    for (const { Properties } of functions) {
      expect(Properties).toMatchObject({ Runtime: "nodejs24.x", Architectures: ["arm64"] });
      const { LogGroup } = z.object({ LogGroup: z.unknown() }).parse(Properties.LoggingConfig);
      expect(service.get(idIn(LogGroup)).Properties.RetentionInDays).toBe(90);
    }
    expect(JSON.stringify(service.every)).not.toContain("logs:CreateLogGroup");
  });

  test("each runs no longer than infra/functions.ts says", () => {
    for (const each of functions) {
      const spec = Object.entries(functionSpecs).find(([name]) => name === nameOf(each))?.[1];
      expect(each.Properties.Timeout, nameOf(each)).toBe(spec?.timeoutS);
    }
  });

  test.each(functionNames)("%s rings when it fails, and the alarm says what is lost", (name) => {
    const own = functions.find((each) => nameOf(each) === name);
    const errors = alarmsOf(own?.id ?? "").filter(({ Properties }) => Properties.MetricName === "Errors");
    expect(errors).toHaveLength(1);
    expect(errors[0]?.Properties.AlarmDescription).toContain(functionSpecs[name].lost);
  });
});

describe("the interface", () => {
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

  test("every route of the table leads to its function, everything else to not-found, and there is no other", () => {
    const expected = Object.values<Route>(routes).map((route): [string, string] => [routeKey(route), route.function]);
    expect(served.length).toBe(Object.keys(routes).length + 1);
    expect(new Map(served)).toEqual(new Map([...expected, ["$default", "not-found"]]));
  });

  test("its log names routes and never paths, for one holds a secret", () => {
    const [stage] = service.all("AWS::ApiGatewayV2::Stage");
    const { Format } = z.object({ Format: z.string() }).parse(stage?.Properties.AccessLogSettings);
    expect(Format).toContain("$context.routeKey");
    expect(Format).not.toMatch(/\$context\.(path|http\.path|protocol|identity)/);
  });
});

describe("queues", () => {
  const queues = service.all("AWS::SQS::Queue");
  const redrive = z.object({ deadLetterTargetArn: z.unknown(), maxReceiveCount: z.int().positive() });
  const sources = service
    .all("AWS::Lambda::EventSourceMapping")
    .filter(({ Properties }) => !mentions(Properties.EventSourceArn, "Fn::ImportValue"));

  test("those that feed a function have dead letters that ring, and wait six times as long as the function may run", () => {
    expect(sources.map(({ Properties }) => functionAt(Properties.FunctionName)).sort()).toEqual([
      "apply-upstream-event",
      "deliver-webhook",
    ]);
    for (const { Properties } of sources) {
      const queue = service.get(idIn(Properties.EventSourceArn));
      const worker = service.get(idIn(Properties.FunctionName));
      const deadLetters = service.get(idIn(redrive.parse(queue.Properties.RedrivePolicy).deadLetterTargetArn));
      expect(alarmsOf(queue.id).length + alarmsOf(deadLetters.id).length).toBeGreaterThan(0);
      expect(deadLetters.Properties.QueueName).toBe(`${queue.Properties.QueueName}-dead-letters`);
      expect(queue.Properties.VisibilityTimeout).toBeGreaterThanOrEqual(6 * z.int().parse(worker.Properties.Timeout));
      expect(Properties.FunctionResponseTypes).toEqual(["ReportBatchItemFailures"]);
    }
  });

  test("any queue either has dead letters or is such, and every dead letter rings", () => {
    expect(queues.length).toBeGreaterThanOrEqual(6);
    for (const { id, Properties } of queues) {
      if (Properties.RedrivePolicy !== undefined) continue;
      const [alarm, ...others] = alarmsOf(id);
      expect(others, id).toEqual([]);
      expect(alarm?.Properties, id).toMatchObject({ Threshold: 0, ComparisonOperator: "GreaterThanThreshold" });
      expect(Properties.MessageRetentionPeriod).toBe(14 * 86_400);
    }
  });
});

describe("the ledger's stream", () => {
  const [mapping, ...others] = service
    .all("AWS::Lambda::EventSourceMapping")
    .filter(({ Properties }) => mentions(Properties.EventSourceArn, "Fn::ImportValue"));

  test("is read by enqueue-webhooks, which loses nothing in silence", () => {
    expect(others).toEqual([]);
    expect(functionAt(mapping?.Properties.FunctionName)).toBe(streams.ledger.consumer);
    expect(mapping?.Properties).toMatchObject({
      StartingPosition: "TRIM_HORIZON",
      BisectBatchOnFunctionError: true,
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      MaximumRetryAttempts: -1,
      MaximumRecordAgeInSeconds: 82_800,
      FilterCriteria: { Filters: [{ Pattern: JSON.stringify(streams.ledger.pattern) }] },
    });
    const { OnFailure } = z
      .object({ OnFailure: z.object({ Destination: z.unknown() }) })
      .parse(mapping?.Properties.DestinationConfig);
    expect(alarmsOf(idIn(OnFailure.Destination))).toHaveLength(1);
    expect(alarms.filter(({ Properties }) => Properties.MetricName === "IteratorAge")).toHaveLength(1);
    expect(data.all("AWS::DynamoDB::Table").filter(({ Properties }) => Properties.StreamSpecification)).toHaveLength(1);
  });
});

describe("the clock", () => {
  test("calls its functions each minute, with dead letters, and rings when one is not called", () => {
    const rules = service.all("AWS::Events::Rule");
    const called = rules.map(({ Properties }) => {
      expect(Properties.ScheduleExpression).toBe("rate(1 minute)");
      const [target] = z
        .tuple([z.object({ Arn: z.unknown(), DeadLetterConfig: z.object({ Arn: z.unknown() }) })])
        .parse(Properties.Targets);
      expect(alarmsOf(idIn(target.DeadLetterConfig.Arn))).toHaveLength(1);
      const silent = alarmsOf(idIn(target.Arn)).filter(({ Properties: own }) => own.TreatMissingData === "breaching");
      expect(silent).toHaveLength(1);
      return functionAt(target.Arn);
    });
    expect(called.sort()).toEqual([...scheduledFunctions].sort());
  });
});

describe("a stage whose workers are off", () => {
  const off = templatesOf("prod", { purchases: "off", workers: "off" }).service;
  const nameIn = (reference: unknown): string => nameOf(off.get(idIn(reference)));

  test("leaves messages in their queues, and the stream is read on", () => {
    const enabled = off.all("AWS::Lambda::EventSourceMapping").map(({ Properties }) => {
      return [nameIn(Properties.FunctionName), Properties.Enabled ?? true];
    });
    expect(Object.fromEntries(enabled)).toEqual({
      "apply-upstream-event": false,
      "deliver-webhook": false,
      "enqueue-webhooks": true,
    });
  });

  test("does not call the function that changes the ledger by the clock, and calls the others", () => {
    const target = z.tuple([z.object({ Arn: z.unknown() })]);
    const states = off.all("AWS::Events::Rule").map(({ Properties }) => {
      return [nameIn(target.parse(Properties.Targets)[0].Arn), Properties.State];
    });
    expect(Object.fromEntries(states)).toEqual({ "reconcile-ledger": "DISABLED", "refresh-catalog": "ENABLED" });
  });

  test("says so in its outputs, by which the operator's commands know it", () => {
    expect([off.outputs.Workers?.Value, off.outputs.Purchases?.Value]).toEqual(["off", "off"]);
    expect([service.outputs.Workers?.Value, service.outputs.Purchases?.Value]).toEqual(["on", "on"]);
  });
});

describe("alarms", () => {
  test("each says what is lost, tells the topic, and needs no metric math", () => {
    expect(alarms.length).toBeGreaterThan(40);
    const [topic] = service.all("AWS::SNS::Topic");
    for (const { Properties, id } of alarms) {
      expect(Properties.AlarmDescription, id).toMatch(/^.{30,}\.$/s);
      expect(Properties.AlarmActions, id).toEqual([{ Ref: topic?.id }]);
      expect(Properties.Metrics, id).toBeUndefined();
    }
  });

  test("CloudWatch may publish to their topic, whose own policy replaces the default one", () => {
    const [policy] = service.all("AWS::SNS::TopicPolicy");
    expect(JSON.stringify(policy?.Properties)).toContain('"Principal":{"Service":"cloudwatch.amazonaws.com"}');
  });

  test.each(["OldestOpenSeconds", "StuckTransactions", "OldestUnrefundedSeconds", "LedgerMismatches", "Alarms"])(
    "%s rings, for this stage alone",
    (metric) => {
      const own = alarms.filter(({ Properties }) => Properties.MetricName === metric);
      expect(own.length).toBeGreaterThan(0);
      for (const { Properties } of own) {
        expect(Properties.Dimensions).toContainEqual({ Name: "Stage", Value: "prod" });
      }
    },
  );
});
