import { type CfnResource, Stack } from "aws-cdk-lib";
import { CfnAlarm, CfnCompositeAlarm } from "aws-cdk-lib/aws-cloudwatch";
import * as z from "#zod";
import { addStage } from "../../infra/constructs/stage.ts";
import { unbundledApp } from "../../infra/constructs/unbundled-app.ts";
import { settingsOf } from "../../infra/stage-settings.ts";
import { counted } from "../../shared/contract/values/counted.ts";
import { stages } from "../../stages.ts";
import { markdownTable } from "../markdown/markdown.ts";

const STAGE = "prod";

/** Those of a stage that has every alarm which notifies. */
const settings = () =>
  settingsOf(STAGE, {
    [STAGE]: {
      ...stages.prod,
      release: { kind: "all-at-once" },
      upstreamProfile: { reference: "documented", balance: { path: "/wallet", object: "wallet" } },
      domain: { name: "api.example.com", certificateArn: "arn:aws:acm:us-east-1:000000000000:certificate/1" },
      console: { issuer: "https://id.example.com", clientId: "console", operatorGroup: "o", readerGroup: "r" },
      recovery: { region: "eu-west-1" },
      auditCopy: { days: 400 },
    },
  });

/** More alarms of one kind are named by what their names end with. */
const NAMED_MAX = 4;

/** The alarms of a stage that are not on a log event. Those that are alike, such as one for each function, are one row. */
export const alarmTable = (): string => {
  const stacks = Object.values(addStage(unbundledApp(), STAGE, settings()));
  const all = stacks.flatMap((stack) => stack?.node.findAll() ?? []);
  const rows = all.flatMap((construct) => {
    if (construct instanceof CfnAlarm) return rowOf(construct, conditionOf(construct));
    return construct instanceof CfnCompositeAlarm ? rowOf(construct, "one of its parts is raised") : [];
  });
  const kinds = Map.groupBy(rows, ({ condition, urgency }) => `${condition}, ${urgency}`);
  return markdownTable([
    ["alarm", "raised when", "urgency"],
    ...[...kinds.values()].map((alike) => {
      const [{ condition, urgency } = { condition: "", urgency: "" }] = alike;
      return [namesOf(alike.map(({ name }) => name)), condition, urgency];
    }),
  ]);
};

type Row = { readonly name: string; readonly condition: string; readonly urgency: string };

/** None for one on a log event. One that notifies nobody by itself is a part of the composite alarm. */
const rowOf = (alarm: CfnResource & Pick<CfnAlarm, "alarmActions">, condition: string): readonly Row[] => {
  const name = nameOf(alarm);
  if (name.startsWith("Event-")) return [];
  const actions: unknown = Stack.of(alarm).resolve(alarm.alarmActions);
  if (actions === undefined) return [{ name, condition, urgency: "page, by `SellsNothing`" }];
  return [{ name, condition, urgency: JSON.stringify(actions).includes("Tickets") ? "ticket" : "page" }];
};

/** As in the name that CloudFormation gives it, without the stack's. */
const nameOf = ({ node }: CfnResource): string => {
  const [, ...ids] = node.path.split("/");
  return ids.filter((id) => id !== "Resource" && id !== "Alarms").join("");
};

const namesOf = (names: readonly string[]): string => {
  if (names.length <= NAMED_MAX) return names.map((name) => `\`${name}\``).join(", ");
  const [first = "", ...others] = names;
  const words = first.split(/(?=[A-Z])/);
  const common = words.findIndex((_, from) => others.every((name) => name.endsWith(words.slice(from).join(""))));
  return `\`...${words.slice(common).join("")}\`, ${names.length} of them`;
};

const metricQuery = z.looseObject({
  metricStat: z.looseObject({ metric: z.looseObject({ metricName: z.string() }), period: z.number() }),
});

const expression = z.looseObject({ expression: z.string() });
/** Only a period with this many values counts. */
const AT_LEAST = /^IF\(n >= (\d+), m, 0\)$/;

const conditionOf = (alarm: CfnAlarm): string => {
  const { threshold = 0, comparisonOperator, evaluationPeriods = 1, datapointsToAlarm = evaluationPeriods } = alarm;
  const queries = z.optional(z.array(z.unknown())).parse(Stack.of(alarm).resolve(alarm.metrics)) ?? [];
  const [filled] = queries.flatMap((query) => metricQuery.safeParse(query).data ?? []);
  const name = filled?.metricStat.metric.metricName ?? alarm.metricName ?? "";
  const metric = `\`${name.replace(`-${STAGE}`, "")}\``;
  const periodS = filled?.metricStat.period ?? alarm.period ?? 0;
  const isBelow = comparisonOperator === "LessThanThreshold";
  const [, countMin] = queries.flatMap(
    (query) => AT_LEAST.exec(z.safeParse(expression, query).data?.expression ?? "") ?? [],
  );
  // Missing values are filled with -1.
  if (isBelow && threshold === 0) return `${metric} has no value for ${timeText(evaluationPeriods * periodS)}`;
  const periods = evaluationPeriods === 1 ? "" : `${datapointsToAlarm} of the last ${evaluationPeriods} periods of `;
  return `${metric} is ${isBelow ? "below" : "above"} ${threshold.toLocaleString("en")} in ${periods}${timeText(periodS)}${countMin ? `, of at least ${countMin} values each` : ""}`;
};

const timeText = (seconds: number): string => {
  const minutes = seconds / 60;
  if (minutes < 60) return counted(minutes, "minute");
  return minutes < 1_440 ? counted(minutes / 60, "hour") : counted(minutes / 1_440, "day");
};
