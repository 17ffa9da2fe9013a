import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import * as z from "#zod";
import { accessLogLine } from "../../../../infra/access-log.ts";
import { scheduledFunctions } from "../../../../infra/schedules.ts";
import { routeKey } from "../../../../shared/contract/route.ts";
import { routes } from "../../../../shared/contract/routes.ts";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { alarmsOf } from "../../../builders/cloudwatch/alarms.ts";
import { type Sample, samplesOf } from "../../../builders/cloudwatch/samples.ts";
import { templatesOf } from "../../../builders/templates/templates.ts";

const { service } = templatesOf("prod");
const alarms = alarmsOf(service);
const samples = samplesOf(service);

const minutes = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, position) => from + position);
/** What a healthy stage measures: each schedule is invoked, and the stream is polled. */
const healthy = (from: number, to: number): readonly Sample[] =>
  minutes(from, to).flatMap((minute) => [
    ...scheduledFunctions.flatMap((name) => samples.invoked(minute * MINUTE_MS, `prod-airtime-${name}`, false)),
    ...["OldestOpenSeconds", "OldestQueuedSeconds"].map((name) =>
      samples.measured(minute * MINUTE_MS, ["AirtimeDataIdentity", name], { Stage: "prod" }, 0),
    ),
    ...polled(minute),
  ]);
const streamMappings = service
  .all("AWS::Lambda::EventSourceMapping")
  .filter(({ Properties }) => Properties.MetricsConfig !== undefined);
const polled = (minute: number): readonly Sample[] =>
  streamMappings.map(({ id: EventSourceMappingUUID }) =>
    samples.measured(minute * MINUTE_MS, ["AWS/Lambda", "PolledEventCount"], { EventSourceMappingUUID }, 0),
  );
/** The changes of the alarms in some hours, with their minutes, of a stage that is healthy but for these samples. */
const changesOf = (own: readonly Sample[], hours = 3) =>
  alarms
    .changes([...healthy(-60, hours * 60), ...own], { fromMs: 0, toMs: hours * 60 * MINUTE_MS })
    .map(({ atMs, alarm, to }) => [alarm, to, atMs / MINUTE_MS]);

test("a healthy stage has no alarm, and each alarm that notifies has an urgency", () => {
  expect(changesOf([])).toEqual([]);
  expect(alarms.urgencies.size).toBeGreaterThan(90);
  expect(alarms.urgencies.get("SellsNothing")).toBe("page");
  expect(alarms.urgencies.get("OpenFor15Minutes")).toBe("ticket");
  expect(alarms.urgencies.has("upstream.account_error")).toBe(false);
});

test.each<readonly [alarm: string, silent: string]>([
  ["RefreshCatalogSilent", "prod-airtime-refresh-catalog"],
  // Runs that fail write no metric either.
  ["ReconcileLedgerSilent", "OldestOpenSeconds"],
  ["SendQueuedOrdersSilent", "OldestQueuedSeconds"],
  ...streamMappings.map(({ id }) => [id.replace(/Mapping.*$/, "StreamSilent"), id] as const),
])("%s is raised after 15 minutes without a data point, as it says, and ends with the first one", (alarm, silent) => {
  const again = 40;
  const back = healthy(again, 180).filter(({ metric }) => metric.includes(silent));
  const quiet = healthy(-60, 180).filter(({ metric, atMs }) => !metric.includes(silent) || atMs < 0);
  const changes = alarms.changes([...quiet, ...back], { fromMs: 0, toMs: 180 * MINUTE_MS });
  expect(changes).toEqual([
    { alarm, to: "ALARM", atMs: 15 * MINUTE_MS },
    { alarm, to: "OK", atMs: (again + 1) * MINUTE_MS },
  ]);
});

const ended = (atMs: number, reference: string, end: object): readonly Sample[] =>
  samples.filtered(atMs, JSON.stringify({ event: "change.handled", outcome: "ignored", reference, ...end }));

test.each<readonly [what: string, delivered: number, failed: object, raised: readonly string[]]>([
  ["all fail", 0, { status: "failed", code: "delivery_failed" }, ["AllPurchasesFail", "PurchasesFail", "SellsNothing"]],
  ["more than half fail", 3, { status: "failed", code: "delivery_failed" }, ["PurchasesFail"]],
  ["half fail", 5, { status: "failed", code: "delivery_failed" }, []],
  ["the upstream refuses fields of all", 0, { status: "failed", code: "validation_failed" }, []],
])("if of the purchases of 15 minutes %s, exactly these alarms are raised", (_what, delivered, failed, raised) => {
  const own = minutes(0, 15).flatMap((minute) => [
    ...minutes(0, 5).flatMap((each) => ended(minute * MINUTE_MS, `DATA_${each}`, failed)),
    ...minutes(0, delivered).flatMap((each) => ended(minute * MINUTE_MS, `AIRTIME_${each}`, { status: "success" })),
    // Neither a test order nor an identity check is a purchase.
    ...minutes(0, 9).flatMap((each) => ended(minute * MINUTE_MS, `TEST_${each}`, { status: "success" })),
    ...minutes(0, 9).flatMap((each) => ended(minute * MINUTE_MS, `VERIFY_${each}`, { status: "success" })),
  ]);
  const changes = changesOf(own);
  expect(changes.flatMap(([alarm, to]) => (to === "ALARM" ? [alarm] : [])).toSorted()).toEqual(raised);
  expect(changes.flatMap(([alarm, to]) => (to === "OK" ? [alarm] : [])).toSorted()).toEqual(raised);
});

test("purchases that fail raise no alarm, if there are few in each of the hour's periods, or many in two of them", () => {
  const failed = { status: "failed", code: "delivery_failed" };
  const failing = (times: readonly number[], purchases: number) =>
    times.flatMap((minute) =>
      minutes(0, purchases).flatMap((each) => ended(minute * MINUTE_MS, `DATA_${each}`, failed)),
    );
  expect(changesOf(failing([0, 10, 20, 30, 40, 50], 2))).toEqual([]);
  expect(changesOf(failing([0, 50], 9))).toEqual([]);
});

describe("in a stage with an order in some hours", () => {
  const failed = { status: "failed", code: "delivery_failed" };
  const stops = (event: string) => (minute: number) => [
    samples.measured(minute * MINUTE_MS, ["AirtimeDataIdentity", "Alarms"], { Stage: "prod", Event: event }, 1),
  ];

  test.each<readonly [alarm: string, needed: number, at: (minute: number) => readonly Sample[]]>([
    ["DailyPurchasesFail", 5, (minute) => ended(minute * MINUTE_MS, "DATA_1", failed)],
    ["Daily-identity_key.unusable", 3, stops("identity_key.unusable")],
    ["Daily-purchases.unreadable", 3, stops("purchases.unreadable")],
    ["Daily-upstream.unreachable", 3, stops("upstream.unreachable")],
  ])("%s writes a ticket when orders failed in %i hours of a day, and not in one less", (alarm, needed, at) => {
    const hours = [0, 2, 4, 7, 9].slice(-needed);
    const changes = (own: readonly number[]) =>
      changesOf(
        own.flatMap((hour) => at(hour * 60)),
        12,
      );
    expect(changes(hours)).toEqual([[alarm, "ALARM", 9 * 60 + 1]]);
    expect(changes(hours.slice(1))).toEqual([]);
    expect(alarms.urgencies.get(alarm)).toBe("ticket");
  });

  test("hours of which at least half of the purchases were delivered raise none", () => {
    const own = [0, 2, 4, 6, 8].flatMap((hour) => [
      ...ended(hour * 60 * MINUTE_MS, "DATA_1", failed),
      ...ended(hour * 60 * MINUTE_MS, "DATA_2", { status: "success" }),
    ]);
    expect(changesOf(own, 12)).toEqual([]);
  });
});

test("a share of purchases below the setting writes a ticket while it lasts, and orders open for a day page, of any kind once", () => {
  const stage = { Stage: "prod" };
  const measured = (name: string, own: readonly (readonly [minute: number, value: number])[], dimensions = stage) =>
    own.map(([minute, value]) =>
      samples.measured(minute * MINUTE_MS, ["AirtimeDataIdentity", name], dimensions, value),
    );
  const share = [
    ...minutes(0, 60).map((each) => [each, 89.99] as const),
    ...minutes(60, 180).map((each) => [each, 90] as const),
  ];
  const pending = minutes(0, 30).map((each) => [each, 2] as const);
  const byKind = measured("OpenOver24Hours", pending, { ...stage, ...{ Kind: "airtime" } });
  const changes = changesOf([
    ...measured("EndedIn30sPercent", share),
    ...measured("OpenOver24Hours", pending),
    ...byKind,
  ]);
  expect(changes.map(([alarm, to]) => [alarm, to])).toEqual([
    ["OpenFor24Hours", "ALARM"],
    ["EndedLate", "ALARM"],
    ["OpenFor24Hours", "OK"],
    ["EndedLate", "OK"],
  ]);
  expect(["EndedLate", "OpenFor24Hours"].map((alarm) => alarms.urgencies.get(alarm))).toEqual(["ticket", "page"]);
});

describe("alarms on a table's throttles", () => {
  const throttled = (minute: number): Sample =>
    samples.measured(minute * MINUTE_MS, ["AWS/DynamoDB", "WriteThrottleEvents"], { TableName: "Ledger" }, 3);

  test("a throttle that ends by itself raises none", () => {
    expect(changesOf([throttled(1), throttled(2), throttled(3)])).toEqual([]);
  });

  test("throttles for a quarter of an hour raise one, which ends although the metric has no data then", () => {
    expect(changesOf(minutes(0, 16).map(throttled))).toEqual([
      ["LedgerWriteThrottles", "ALARM", 11],
      ["LedgerWriteThrottles", "OK", expect.any(Number)],
    ]);
  });
});

describe("alarms on the access log", () => {
  const answers = (route: string, status: number, own: readonly number[]): readonly Sample[] =>
    own.flatMap((minute) =>
      Array.from({ length: 21 }).flatMap(() => {
        const unanswered = { invocation: undefined, answered: undefined, error: undefined };
        const line = { requestId: "r", routeKey: route, status, latencyMs: 1, sourceIp: "203.0.113.7" };
        return samples.accessed(minute * MINUTE_MS, accessLogLine({ ...line, ...unanswered }));
      }),
    );

  test("an hour of 429s of the gateway on documents and unknown paths raises none", () => {
    expect(changesOf(answers(routeKey(routes.showDocs), 429, minutes(0, 60)))).toEqual([]);
    expect(changesOf(answers("$default", 429, minutes(0, 60)))).toEqual([]);
  });

  test("429s of the gateway on orders page when they repeat, and not once", () => {
    const route = routeKey(routes.buyData);
    expect(changesOf(answers(route, 429, [0]))).toEqual([]);
    expect(changesOf(answers(route, 429, [0, 20, 40])).map(([alarm, to]) => [alarm, to])).toEqual([
      ["GatewayThrottles", "ALARM"],
      ["GatewayThrottles", "OK"],
    ]);
    expect(alarms.urgencies.get("GatewayThrottles")).toBe("page");
  });
});

describe("alarms on a function's log", () => {
  const urlOf = (path: string): string => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
  const script = `
    import { log, logOutput } from ${JSON.stringify(urlOf("shared/platform/log.ts"))};
    const alarm = () => log.alarm("upstream.account_error", { reference: "DATA_1", reason: "insufficient_balance" });
    alarm();
    logOutput.write = (line) => console.log(line);
    alarm();
  `;
  /** What a function of the stage writes to its log, with the console of Lambda's runtime: a line, and one by the console. */
  const written = async (): Promise<readonly string[]> => {
    const preloaded = [
      "--import",
      urlOf("test/builders/aws/lambda-console.ts"),
      "--input-type=module",
      "--eval",
      script,
    ];
    const env = { ...process.env, AWS_LAMBDA_FUNCTION_NAME: "prod-airtime-purchase" };
    const { stdout } = await promisify(execFile)(process.execPath, preloaded, { env });
    return stdout.trimEnd().split("\n");
  };
  const format = z.object({ LogFormat: z.string() });

  test("the functions of the stage have the log format whose prefix is tested here", () => {
    const formats = service
      .all("AWS::Lambda::Function")
      .map(({ Properties }) => format.parse(Properties.LoggingConfig).LogFormat);
    expect(new Set(formats)).toEqual(new Set(["Text"]));
  });

  test("an event that stops sales raises its alarm and, as one page, SellsNothing, until both end; a line that the runtime prefixes is no metric", async () => {
    const [line = "", prefixed = "", ...others] = await written();
    expect(others).toEqual([]);
    expect(prefixed).toMatch(/^\S+\t\S+\tINFO\t\{.*"Alarms":1/);
    expect(samples.logged(prefixed)).toEqual([]);
    const found = samples.logged(line);
    const atMs = found[0]?.atMs ?? 0;
    const fromMs = Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
    const shifted = found.map((sample) => ({ ...sample, atMs: atMs - fromMs }));
    expect(changesOf(shifted).map(([alarm, to]) => [alarm, to])).toEqual([
      ["upstream.account_error", "ALARM"],
      ["SellsNothing", "ALARM"],
      ["upstream.account_error", "OK"],
      ["SellsNothing", "OK"],
    ]);
  });
});

test("an alarm with a rule that is not read here is refused, so that none is left out", () => {
  const [alarm, ...others] = service.all("AWS::CloudWatch::Alarm");
  const Properties = { ...alarm?.Properties, ComparisonOperator: "GreaterThanOrEqualToThreshold" };
  const changed = alarm && { ...service, all: () => [{ ...alarm, Properties }, ...others] };
  expect(() => changed && alarmsOf(changed)).toThrow("ComparisonOperator");
});
