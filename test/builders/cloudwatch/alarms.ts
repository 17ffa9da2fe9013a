import * as z from "#zod";
import { MINUTE_MS } from "../../../shared/contract/values/durations.ts";
import type { Urgency } from "../../../shared/platform/log-catalog.ts";
import { mentions, type Resource, type StackTemplate } from "../templates/templates.ts";
import { type AlarmRule, type AlarmState, type DataPoint, evaluate, evaluationRange } from "./alarm-state.ts";
import { metricIdOf, nameIn } from "./metric-id.ts";
import type { Sample } from "./samples.ts";

/** A change of an alarm's state, at the end of a minute. */
export type AlarmChange = { readonly atMs: number; readonly alarm: string; readonly to: AlarmState };

export type StageAlarms = {
  /** The urgency of each alarm that notifies a person. */
  readonly urgencies: ReadonlyMap<string, Urgency>;
  /** The changes of all alarms, which begin as OK. */
  readonly changes: (samples: readonly Sample[], time: { fromMs: number; toMs: number }) => readonly AlarmChange[];
};

type Alarm = {
  readonly name: string;
  readonly rule: AlarmRule;
  readonly metric: string;
  readonly statistic: z.output<typeof statistic>;
  readonly periodMinutes: number;
  /** What stands for a missing value. */
  readonly filler: number | undefined;
  /** A period with fewer values is 0. */
  readonly countMin: number;
  readonly breaches: (value: number) => boolean;
};

const statistic = z.enum(["Sum", "Maximum", "Minimum", "Average"]);
const metric = z.object({
  Namespace: z.string(),
  MetricName: z.string(),
  Dimensions: z._default(z.array(z.object({ Name: z.string(), Value: z.unknown() })), []),
});
const period = z.pipe(
  z.int().check(z.multipleOf(60)),
  z.transform((seconds) => seconds / 60),
);
const condition = z.object({
  Threshold: z.number(),
  ComparisonOperator: z.enum(["GreaterThanThreshold", "LessThanThreshold"]),
  EvaluationPeriods: z.int(),
  DatapointsToAlarm: z.optional(z.int()),
  TreatMissingData: z._default(z.enum(["breaching", "notBreaching", "ignore", "missing"]), "missing"),
});
const single = z.extend(metric, { Statistic: statistic, Period: period });
const used = z.object({
  Id: z.literal("m"),
  MetricStat: z.object({ Metric: metric, Stat: statistic, Period: period }),
});
const counted = z.object({ Id: z.literal("n"), MetricStat: z.object({ Stat: z.literal("SampleCount") }) });
/** Those of the math of metrics that are read here. */
const [FILL, AT_LEAST] = [/^FILL\(m, (-?\d+)\)$/, /^IF\(n >= (\d+), m, 0\)$/];
const expressionOf = (pattern: RegExp) =>
  z.object({
    Expression: z.pipe(
      z.string().check(z.regex(pattern)),
      z.transform((text) => Number(pattern.exec(text)?.[1])),
    ),
  });
const filledMetric = z.tuple([expressionOf(FILL), used]);
const countedMetric = z.tuple([expressionOf(AT_LEAST), used, counted]);

/** What an alarm watches: a metric, one whose missing values are filled, or one that needs some values in a period. */
const watchedBy = ({ Metrics, ...properties }: Resource["Properties"]) => {
  if (Metrics === undefined) return { ...single.parse(properties), filler: undefined, countMin: 1 };
  const { data } = countedMetric.safeParse(Metrics);
  const [{ Expression }, { MetricStat }] = data ?? filledMetric.parse(Metrics);
  const math = data ? { filler: undefined, countMin: Expression } : { filler: Expression, countMin: 1 };
  return { ...MetricStat.Metric, Statistic: MetricStat.Stat, Period: MetricStat.Period, ...math };
};

/** `LedgerStreamSilent`, or the log event of an alarm: a name as people see it in the docs. */
const nameOf = ({ id, Properties }: Resource): string => {
  const event = / Log event: (\S+)\.$/.exec(String(Properties.AlarmDescription))?.[1];
  const name = id.replace(/^Alarms/, "").replace(/[0-9A-F]{8}$/, "");
  if (event === undefined) return name;
  return name.startsWith("Daily") ? `Daily-${event}` : event;
};

/** The alarms of a stage's template as CloudWatch evaluates them: each minute, over periods that slide. */
export const alarmsOf = (template: StackTemplate): StageAlarms => {
  const all = template.all("AWS::CloudWatch::Alarm").map((resource): Alarm => {
    const { Namespace, MetricName, Dimensions, Statistic, Period, filler, countMin } = watchedBy(resource.Properties);
    const { Threshold, ComparisonOperator, ...rest } = condition.parse(resource.Properties);
    const dimensions = Dimensions.map(({ Name, Value }) => [Name, nameIn(template, Value)]);
    return {
      name: nameOf(resource),
      rule: {
        evaluationPeriods: rest.EvaluationPeriods,
        datapointsToAlarm: rest.DatapointsToAlarm ?? rest.EvaluationPeriods,
        // Whatever is set. Source: AWS, "PutMetricAlarm", TreatMissingData.
        treatMissingData: Namespace === "AWS/DynamoDB" ? "ignore" : rest.TreatMissingData,
      },
      metric: metricIdOf(Namespace, MetricName, Object.fromEntries(dimensions)),
      statistic: Statistic,
      periodMinutes: Period,
      filler,
      countMin,
      breaches: (value) => (ComparisonOperator === "LessThanThreshold" ? value < Threshold : value > Threshold),
    };
  });
  const composites = template.all("AWS::CloudWatch::CompositeAlarm").map((resource) => ({
    name: nameOf(resource),
    parts: partsOf(template, resource),
  }));
  return {
    urgencies: urgenciesOf(template),
    changes: (samples, { fromMs, toMs }) => {
      const minutes = minutesOf(samples);
      const states = new Map<string, AlarmState>();
      const changes: AlarmChange[] = [];
      const set = (atMs: number, alarm: string, to: AlarmState): void => {
        if (to !== stateOf(alarm)) changes.push({ atMs, alarm, to });
        states.set(alarm, to);
      };
      const stateOf = (alarm: string): AlarmState => states.get(alarm) ?? "OK";
      for (let atMs = fromMs; atMs <= toMs; atMs += MINUTE_MS) {
        for (const alarm of all)
          set(atMs, alarm.name, evaluate(alarm.rule, rangeAt(alarm, minutes, atMs), stateOf(alarm.name)));
        for (const { name, parts } of composites) {
          set(atMs, name, parts.some((part) => stateOf(part) === "ALARM") ? "ALARM" : "OK");
        }
      }
      return changes;
    },
  };
};

const anyOf = /^\(ALARM\("\w+"\)( OR ALARM\("\w+"\))*\)$/;
const join = z.object({ "Fn::Join": z.tuple([z.literal(""), z.array(z.unknown())]) });

/** The alarms of which any one raises a composite alarm; another rule is refused. */
const partsOf = (template: StackTemplate, { id, Properties }: Resource): readonly string[] => {
  const rule = join
    .parse(Properties.AlarmRule)
    ["Fn::Join"][1].map((part) => nameIn(template, part))
    .join("");
  if (!anyOf.test(rule)) throw new Error(`Not a rule that is read here, of ${id}: ${rule}`);
  return [...rule.matchAll(/"(\w+)"/g)].map(([, part = ""]) => nameOf(template.get(part)));
};

const urgenciesOf = (template: StackTemplate): ReadonlyMap<string, Urgency> => {
  const topics = template.all("AWS::SNS::Topic");
  const notifying = ["AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"].flatMap(template.all);
  return new Map(
    notifying.flatMap((resource): [string, Urgency][] => {
      const topic = topics.find(({ id }) => mentions(resource.Properties.AlarmActions ?? [], id));
      if (topic === undefined) return [];
      return [[nameOf(resource), String(topic.Properties.DisplayName).startsWith("Tickets") ? "ticket" : "page"]];
    }),
  );
};

type Minute = Readonly<Record<Exclude<z.output<typeof statistic>, "Average"> | "SampleCount", number>>;
type Minutes = ReadonlyMap<string, ReadonlyMap<number, Minute>>;

const together = (one: Minute, other: Minute): Minute => ({
  Sum: one.Sum + other.Sum,
  Maximum: Math.max(one.Maximum, other.Maximum),
  Minimum: Math.min(one.Minimum, other.Minimum),
  SampleCount: one.SampleCount + other.SampleCount,
});

/** The statistics of each metric by minute. */
const minutesOf = (samples: readonly Sample[]): Minutes => {
  const metrics = new Map<string, Map<number, Minute>>();
  for (const { metric: id, atMs, value } of samples) {
    const minutes = metrics.get(id) ?? new Map<number, Minute>();
    const minute = Math.floor(atMs / MINUTE_MS);
    const before = minutes.get(minute);
    const own = { Sum: value, Maximum: value, Minimum: value, SampleCount: 1 };
    minutes.set(minute, before === undefined ? own : together(before, own));
    metrics.set(id, minutes);
  }
  return metrics;
};

/** The data points of an alarm's range, which ends now. */
const rangeAt = (alarm: Alarm, minutes: Minutes, nowMs: number): readonly DataPoint[] => {
  const { rule, periodMinutes, statistic, filler, countMin, breaches } = alarm;
  const known = minutes.get(alarm.metric);
  const length = evaluationRange(rule);
  const begin = Math.floor(nowMs / MINUTE_MS) - length * periodMinutes;
  return Array.from({ length }, (_, period) => {
    let values: Minute | undefined;
    for (let minute = 0; known !== undefined && minute < periodMinutes; minute += 1) {
      const next = known.get(begin + period * periodMinutes + minute);
      if (next !== undefined) values = values === undefined ? next : together(values, next);
    }
    if (values !== undefined && values.SampleCount < countMin) return breaches(0);
    const value = values === undefined ? filler : statisticOf(values, statistic);
    return value === undefined ? undefined : breaches(value);
  });
};

const statisticOf = (values: Minute, statistic: Alarm["statistic"]): number =>
  statistic === "Average" ? values.Sum / values.SampleCount : values[statistic];
