import { describe, expect, test } from "vitest";
import { type StageSettings, settingsOf } from "../../../../infra/stage-settings.ts";
import { logEvents } from "../../../../shared/platform/log-events.ts";
import { stages } from "../../../../stages.ts";
import { limitTitle, reachedAt } from "../../../../tools/scale/limit.ts";
import { limits } from "../../../../tools/scale/limits.ts";
import { templatesOf } from "../../../builders/templates/templates.ts";

const settings = settingsOf("prod", stages);
const named = limits.map((limit) => ({ title: limitTitle(limit), ...limit }));

/** In a logical id a construct's id has its letters and digits alone. */
const alarmIds = templatesOf("prod")
  .service.all("AWS::CloudWatch::Alarm")
  .map(({ id }) => id.replace(/^Alarms/, "").replace(/[0-9A-F]{8}$/, ""));

test.each(named)("the limit has a source, what is seen, a remedy and a capacity: $title", (limit) => {
  const { source, symptom, remedy, capacity, perPurchase } = limit;
  const pages = source.title.startsWith("AWS: ") ? /^https:\/\/docs\.aws\.amazon\.com\/.+\.html$/ : /^\w+\.md#/;
  expect(source.url).toMatch(pages);
  const { alarms = [], logEvents: events = [] } = symptom;
  expect(alarms.filter((id) => !alarmIds.includes(id.replaceAll(/[^A-Za-z\d]/g, "")))).toEqual([]);
  expect(events.filter((event) => !Object.hasOwn(logEvents, event))).toEqual([]);
  expect(alarms.length + events.length).toBeGreaterThan(0);
  const path = remedy.setting?.split(".") ?? [];
  const value = path.reduce<unknown>(
    (part, name) => (typeof part === "object" && part !== null ? Reflect.get(part, name) : undefined),
    settings,
  );
  expect(remedy.setting === undefined || value !== undefined, remedy.setting).toBe(true);
  expect(remedy.text).toMatch(/^[A-Z].*[^.]$/s);
  expect(remedy.cost).not.toBe("");
  expect(capacity(settings)).toBeGreaterThan(0);
  expect(perPurchase).toBeGreaterThan(0);
});

test("no two limits have the same title", () => {
  expect(new Set(named.map(({ title }) => title)).size).toBe(limits.length);
});

describe("a raised setting", () => {
  const reached = (title: string, changes: Partial<StageSettings> = {}): number => {
    const limit = named.find((each) => each.title === title);
    return limit === undefined ? Number.NaN : reachedAt(limit, 1, { ...settings, ...changes });
  };

  test("twice the concurrency of a queue carries twice the load", () => {
    const maxConcurrency = { outcomes: 20, delivery: 40 };
    for (const title of ["concurrency of deliver-webhook", "concurrency of apply-upstream-event"]) {
      expect(reached(title, { maxConcurrency })).toBeCloseTo(2 * reached(title), 6);
    }
  });

  test("twice the rate limit of a stage carries twice the orders and twice the events, of which it takes half", () => {
    const changes = { requestsPerSecondMax: 400 };
    expect(reached("rate limit of an order's route")).toBe(200);
    expect(reached("rate limit of an order's route", changes)).toBe(400);
    expect(reached("rate limit of the upstream's events", changes)).toBe(200);
  });

  test("each zone, or address of an existing network, carries 900 connections a second more", () => {
    const egressOf = (egress: object) => settingsOf("prod", { prod: { ...stages.prod, egress } });
    const addresses = ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4"];
    const existing = { kind: "existing", vpcId: "vpc-0a1b2c3d", subnetIds: ["subnet-0a1b2c3d"], addresses };
    expect(
      reached("NAT gateways", egressOf({ kind: "nat-gateway", zones: ["us-east-1a", "us-east-1b", "us-east-1c"] })),
    ).toBe(2_700);
    expect(reached("NAT gateways", egressOf(existing))).toBe(3_600);
  });

  test("a stage without egress has no NAT gateway", () => {
    expect(reached("NAT gateways", settingsOf("sandbox", stages))).toBe(Number.POSITIVE_INFINITY);
  });
});
