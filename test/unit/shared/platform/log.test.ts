import { globSync, readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "#zod";
import { errorFields, log, loggableError, METRICS_NAMESPACE, putMetrics } from "../../../../shared/platform/log.ts";
import { logEvents } from "../../../../shared/platform/log-events.ts";
import { type CapturedLog, captureLog } from "../../../builders/run/captured-log.ts";

let written: CapturedLog;
beforeEach(() => {
  written = captureLog();
});
afterEach(() => {
  vi.unstubAllEnvs();
});

test("a log line is one JSON object with level, event and fields, without absent fields", () => {
  log.warn("upstream.not_ready", { reason: "no_time" });
  log.info("refresh-catalog.ran", { kind: "fresh_enough", plans: undefined });
  expect(written.lines()).toEqual([
    { level: "warn", event: "upstream.not_ready", reason: "no_time" },
    { level: "info", event: "refresh-catalog.ran", kind: "fresh_enough" },
  ]);
});

describe("a fault of a published version", () => {
  const directives = (line: unknown) =>
    z
      .object({
        _aws: z.object({
          CloudWatchMetrics: z.array(
            z.object({
              Namespace: z.literal(METRICS_NAMESPACE),
              Dimensions: z.tuple([z.array(z.string())]),
              Metrics: z.array(z.object({ Name: z.string() })),
            }),
          ),
        }),
      })
      .parse(line)
      ._aws.CloudWatchMetrics.map(({ Dimensions, Metrics }) => [...Dimensions, Metrics.map(({ Name }) => Name)]);
  const faults = [["Function", "Version"], ["Faults"]];

  beforeEach(() => {
    vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "prod-airtime-purchase");
    vi.stubEnv("AWS_LAMBDA_FUNCTION_VERSION", "7");
  });

  test("an error that is a fault counts for its function and version", () => {
    log.error("message.failed", { message_id: "m", error: "TypeError" });
    expect(written.lines()).toMatchObject([
      { level: "error", Faults: 1, Function: "prod-airtime-purchase", Version: "7" },
    ]);
    expect(written.lines().map(directives)).toEqual([[faults]]);
  });

  test("an alarm that is a fault counts for its event and for its version", () => {
    log.alarm("request.failed", { error: "TypeError" });
    expect(written.lines()).toMatchObject([
      { level: "error", Alarms: 1, Stage: "prod", Event: "request.failed", Faults: 1, Version: "7" },
    ]);
    expect(written.lines().map(directives)).toEqual([[[["Stage", "Event"], ["Alarms"]], faults]]);
  });

  test("what the upstream causes is no fault of the version", () => {
    log.alarm("upstream.account_error", { reference: "DATA_1", reason: "status_401" });
    log.error("wallet.mismatch", { account: "acc_1", difference_kobo: 1 });
    for (const line of written.lines()) expect(line).not.toHaveProperty("Faults");
    expect(written.lines()).toHaveLength(2);
  });

  test("a function that is invoked without an alias counts no faults", () => {
    vi.stubEnv("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST");
    log.error("message.failed", { message_id: "m", error: "TypeError" });
    expect(written.lines()).toEqual([{ level: "error", event: "message.failed", message_id: "m", error: "TypeError" }]);
  });
});

test("metrics of the local service have the stage local", () => {
  putMetrics({ OldestOpenSeconds: 7 }, 1_700_000_000_000);
  expect(written.lines()).toEqual([expect.objectContaining({ OldestOpenSeconds: 7, Stage: "local" })]);
});

describe("errorFields", () => {
  test("an error has its class and place, and never its message", () => {
    const fields = errorFields(new TypeError("08031234567 is not a person"));
    expect(fields).toEqual({ error: "TypeError", at: expect.stringMatching(/^at /) });
    expect(JSON.stringify(fields)).not.toContain("0803");
  });

  test("a line of the message that looks like a place is no place", () => {
    const read = () => JSON.parse('{"status":\n  at 08031234567 }');
    const isHidden = (error: unknown): boolean =>
      error instanceof Error &&
      error.message.includes("\n  at 0803") &&
      errorFields(error).at === "at JSON.parse (<anonymous>)" &&
      loggableError(error).stack?.includes("0803") === false;
    expect(read).toThrow(expect.toSatisfy(isHidden));
  });

  test("the place of a value that a schema refuses is where it was parsed", () => {
    const read = () => z.object({ name: z.string() }).parse({});
    expect(read).toThrow(
      expect.toSatisfy((error) => errorFields(error).at?.startsWith(`at read (${import.meta.filename}`) === true),
    );
  });

  test("a thrown value that is not an error has its type", () => {
    expect(errorFields("08031234567")).toEqual({ error: "string" });
  });
});

test.each(Object.entries(logEvents))(
  "the entry of the log event %s says what it means and what to do",
  (event, spec) => {
    expect(event).toMatch(/^[a-z_-]+\.[a-z0-9_]+$/);
    expect(spec.meaning).toMatch(/^[A-Z].{20,}\.$/);
    if (spec.level !== "info") expect(spec.action).toMatch(/^[A-Za-z].*\.$/);
  },
);

test("each event of the catalogue is logged somewhere", () => {
  const files = globSync(["shared/**/*.ts", "functions/**/*.ts"]).filter(
    (file) => !/(log|fault)-events\.ts$/.test(file),
  );
  const code = files.map((file) => readFileSync(file, "utf8")).join("\n");
  expect(Object.keys(logEvents).filter((event) => !code.includes(`"${event}"`))).toEqual([]);
});
