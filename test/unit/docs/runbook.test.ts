import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { everyFunction } from "../../builders/templates/console.ts";
import { aDomain } from "../../builders/templates/stage-variants.ts";
import { type Resource, templatesOf } from "../../builders/templates/templates.ts";

/** Goal: a person who is woken by an alarm finds its section, and the names in it exist. */
const runbook = readFileSync("docs/runbook.md", "utf8");
const { service } = templatesOf("prod", everyFunction);
/** Those of a canary release, which have names of their own, notify nobody. */
const alarms = [everyFunction, { recovery: { region: "eu-west-1" } }, { domain: aDomain }].flatMap((changes) => {
  const { service, administrator } = templatesOf("prod", changes);
  return [
    ...service.all("AWS::CloudWatch::Alarm").filter(({ Properties }) => Properties.AlarmName === undefined),
    ...service.all("AWS::CloudWatch::CompositeAlarm"),
    ...administrator.all("AWS::CloudWatch::Alarm"),
  ];
});

const [, table = ""] = /^## Alarms\n(.*?)^## /ms.exec(runbook) ?? [];
const names = table
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .flatMap((line) => [...(line.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));

/** The alarms that an entry of the table is about: by the log event in the description, or by the end of the name. */
const isAbout =
  (name: string) =>
  ({ id, Properties }: Resource): boolean =>
    name.includes(".")
      ? String(Properties.AlarmDescription).endsWith(`Log event: ${name}.`)
      : id.replace(/[0-9A-F]{8}$/, "").endsWith(name);

test("the runbook names a section for every alarm that notifies someone", () => {
  expect(alarms.length).toBeGreaterThan(50);
  expect(alarms.filter((alarm) => !names.some((name) => isAbout(name)(alarm))).map(({ id }) => id)).toEqual([]);
});

test("every name in the runbook's list of alarms is that of an alarm", () => {
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => !alarms.some(isAbout(name)))).toEqual([]);
});

test("the runbook names every dead-letter queue, and no other", () => {
  const named = [...runbook.matchAll(/STAGE-airtime-[\w-]+-dead-letters/g)].map(([name]) => name);
  const queues = service.all("AWS::SQS::Queue").map(({ Properties }) => String(Properties.QueueName));
  expect(new Set(named)).toEqual(
    new Set(queues.filter((name) => name.endsWith("-dead-letters")).map((name) => name.replace("prod-", "STAGE-"))),
  );
});
