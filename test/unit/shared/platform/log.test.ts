import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { errorFields, log, putMetrics } from "../../../../shared/platform/log.ts";
import { logEvents } from "../../../../shared/platform/log-events.ts";

const lines: unknown[] = [];
beforeEach(() => {
  lines.length = 0;
  vi.spyOn(console, "log").mockImplementation((line: unknown) => void lines.push(JSON.parse(String(line))));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

test("a log line is one JSON object with level, event and fields, without absent fields", () => {
  log.warn("upstream.not_ready", { reason: "no_time" });
  log.info("refresh-catalog.ran", { kind: "fresh_enough", plans: undefined });
  expect(lines).toEqual([
    { level: "warn", event: "upstream.not_ready", reason: "no_time" },
    { level: "info", event: "refresh-catalog.ran", kind: "fresh_enough" },
  ]);
});

test("an alarm is an error that counts for the alarm of its event and stage", () => {
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "prod-airtime-purchase");
  log.alarm("catalog.stale", { filled: false });
  expect(lines).toEqual([
    expect.objectContaining({
      level: "error",
      event: "catalog.stale",
      Alarms: 1,
      Stage: "prod",
      Event: "catalog.stale",
    }),
  ]);
});

test("metrics of the local service have the stage local", () => {
  putMetrics({ OldestOpenSeconds: 7 }, 1_700_000_000_000);
  expect(lines).toEqual([expect.objectContaining({ OldestOpenSeconds: 7, Stage: "local" })]);
});

describe("errorFields", () => {
  test("an error has its class and place, and never its message", () => {
    const fields = errorFields(new TypeError("08031234567 is not a person"));
    expect(fields).toEqual({ error: "TypeError", at: expect.stringMatching(/^at /) });
    expect(JSON.stringify(fields)).not.toContain("0803");
  });

  test("a thrown value that is not an error has its type", () => {
    expect(errorFields("08031234567")).toEqual({ error: "string" });
  });
});

test.each(Object.entries(logEvents))(
  "the entry of the log event %s says what it means and what to do",
  (event, { meaning, action }) => {
    expect(event).toMatch(/^[a-z_-]+\.[a-z0-9_]+$/);
    expect(meaning).toMatch(/^[A-Z].{20,}\.$/);
    expect(action).toMatch(/^[A-Za-z].*\.$/);
  },
);
