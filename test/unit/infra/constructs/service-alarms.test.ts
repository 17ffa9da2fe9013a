import { afterEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { log, putMetrics } from "../../../../shared/platform/log.ts";
import { templatesOf } from "../../../builders/templates.ts";

const alarms = templatesOf("prod").service.all("AWS::CloudWatch::Alarm");

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const line = z.looseObject({
  _aws: z.object({
    Timestamp: z.int().positive(),
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
  const logSpy = vi.spyOn(console, "log").mockImplementation(() => {});
  write();
  expect(logSpy).toHaveBeenCalledTimes(1);
  return line.parse(JSON.parse(String(logSpy.mock.calls[0]?.[0])));
};

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
    ["OldestOpenSeconds", 2],
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
