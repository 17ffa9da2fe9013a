import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import * as z from "#zod";
import { accessLogFields } from "../../../infra/gateway.ts";
import type { LogEventSpec } from "../../../shared/platform/log-catalog.ts";
import { logEvents } from "../../../shared/platform/log-events.ts";
import { matchesFilter } from "../../builders/cloudwatch/filter-pattern.ts";

/** Goal: the searches of the docs find the functions' lines as Lambda writes them. */
const pathOf = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** A line of each event, of metrics, and of something that logs to the console, as Lambda's runtime writes them. */
const script = `
  import { log, putMetrics } from ${JSON.stringify(pathOf("shared/platform/log.ts"))};
  import { logEvents } from ${JSON.stringify(pathOf("shared/platform/log-events.ts"))};
  for (const [event, { level }] of Object.entries(logEvents)) log[level](event, { error: "TypeError" });
  putMetrics({ OldestOpenSeconds: 7 }, 0);
  console.log(JSON.stringify({ event: "message.failed" }));
`;
const { stdout } = await promisify(execFile)(process.execPath, [
  ...["--import", pathOf("test/builders/aws/lambda-console.ts"), "--input-type=module", "--eval", script],
]);
const lines = stdout.trimEnd().split("\n");
const prefixed = lines.at(-1) ?? "";
const written = lines.slice(0, -1);

describe("a line in Lambda's log", () => {
  test("a line of the log is one JSON object, although the runtime prefixes what the console logs", () => {
    expect(prefixed).toMatch(/^\S+\t\S+\tINFO\t\{"event":"message\.failed"\}$/);
    expect(written).toHaveLength(Object.keys(logEvents).length + 1);
    for (const line of written) expect(line).toMatch(/^\{.*\}$/);
    expect(written.map((line) => z.object({ event: z.optional(z.string()) }).parse(JSON.parse(line)).event)).toEqual([
      ...Object.keys(logEvents),
      undefined,
    ]);
  });

  test("a line of embedded metrics reaches CloudWatch as JSON with its own time stamp", () => {
    expect(JSON.parse(written.at(-1) ?? "")).toMatchObject({ OldestOpenSeconds: 7, _aws: { Timestamp: 0 } });
  });
});

const texts = ["docs/operations.md", "docs/runbook.md", "docs/recovery.md", "docs/webhooks.md"].map((path) =>
  readFileSync(pathOf(path), "utf8"),
);
const patterns = texts.flatMap((text) =>
  [...text.matchAll(/--filter-pattern '([^']+)'/g)].map(([, found = ""]) => found),
);

test("the docs have searches with filter patterns", () => {
  expect(patterns).not.toEqual([]);
});

test.each(patterns)("the documented search %s finds the lines of its event, and no others", (pattern) => {
  const event = /"([a-z_-]+\.[a-z_-]+)"/.exec(pattern)?.[1] ?? "";
  expect(Object.keys(logEvents)).toContain(event);
  expect(lines.filter((line) => matchesFilter(pattern, line))).toEqual([expect.stringContaining(`"event":"${event}"`)]);
});

/** The lines of code blocks that are queries of Logs Insights. */
const queries = texts.flatMap((text) =>
  [...text.matchAll(/^```\n([^`]+)^```$/gm)]
    .flatMap(([, block = ""]) => block.split("\n"))
    .filter((line) => /^(fields|filter|stats|parse) /.test(line)),
);
const words = new Set([
  ...["fields", "filter", "stats", "parse", "sort", "desc", "by", "as", "and", "like"],
  ...["bin", "count", "pct", "max", "sum", "latest", "ispresent", "strlen"],
]);

/** What a query reads: no texts, no patterns, no fields of AWS, and none that it names itself. */
const fieldsRead = (query: string): readonly string[] => {
  const code = query.replaceAll(/"[^"]*"|\/[^/]*\/|@\w+|\b\d+m?\b/g, " ");
  const lists = query.startsWith("parse ") ? /\bas ((?:\w+, )*\w+)/g : /\bas (\w+)/g;
  const own = new Set([...code.matchAll(lists)].flatMap(([, names = ""]) => names.split(", ")));
  return (code.match(/[a-z]\w*/g) ?? []).filter((word) => !words.has(word) && !own.has(word));
};

test.each(queries)("the documented query %s reads fields that are logged", (query) => {
  const logged = Object.values<LogEventSpec>(logEvents).flatMap(({ fields }) => Object.keys(fields));
  const known = new Set([...logged, ...Object.keys(accessLogFields), "event", "level"]);
  expect(fieldsRead(query).filter((field) => !known.has(field))).toEqual([]);
});

test("the documented searches of Logs Insights name events that exist", () => {
  const named = texts.flatMap((text) => [...text.matchAll(/filter event = "([^"]+)"/g)].map(([, found = ""]) => found));
  expect(named).not.toEqual([]);
  expect(named.filter((event) => !Object.hasOwn(logEvents, event))).toEqual([]);
});

describe("matchesFilter", () => {
  const answered = '{"status":"429","answered":"-","route":"POST /v1/vtu/data/purchase"}';
  test.each([
    ['{ $.status = "429" }', answered, true],
    ['{ $.status = "4*" && $.answered != "429" }', answered, true],
    ['{ ($.status = "5*") || ($.route = "*purchase") }', answered, true],
    ['{ ($.status = "429") && ($.route != "POST *") }', answered, false],
    ['{ $.absent != "429" }', answered, false],
    ['{ $.status = "429" }', `2026-11-22T00:00:00Z\tid\tINFO\t${answered}`, false],
    ['"429" purchase', `2026-11-22T00:00:00Z\tid\tINFO\t${answered}`, true],
    ["429 balance", answered, false],
  ])("%s in %s: %s", (pattern, event, expected) => {
    expect(matchesFilter(pattern, event)).toBe(expected);
  });

  test("a pattern that it cannot read is refused", () => {
    expect(() => matchesFilter("{ $.status > 5 }", answered)).toThrow("Not a condition");
  });
});
