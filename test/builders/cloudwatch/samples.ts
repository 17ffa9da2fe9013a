import * as z from "#zod";
import type { StackTemplate } from "../templates/templates.ts";
import { matchesFilter } from "./filter-pattern.ts";
import { metricIdOf, nameIn } from "./metric-id.ts";

/** A value of a metric, as a service of AWS or a line of log reports it. */
export type Sample = { readonly metric: string; readonly atMs: number; readonly value: number };

/** What was observed of a stage becomes the samples of its metrics, by the stage's template. */
export type Samples = {
  /** A line in the log of a function: its embedded metrics. */
  readonly logged: (line: string) => readonly Sample[];
  /** A line in the access log: what the metric filters count. */
  readonly accessed: (atMs: number, line: string) => readonly Sample[];
  /** A line in the log of a function: what the metric filters count. */
  readonly filtered: (atMs: number, line: string) => readonly Sample[];
  /** An invocation of a function of the stage. */
  readonly invoked: (atMs: number, functionName: string, hasFailed: boolean) => readonly Sample[];
  /** A value that AWS measures by itself. */
  readonly measured: (
    atMs: number,
    metric: readonly [namespace: string, name: string],
    dimensions: Readonly<Record<string, string>>,
    value: number,
  ) => Sample;
};

const filter = z.object({
  FilterPattern: z.string(),
  LogGroupName: z.unknown(),
  MetricTransformations: z.array(
    z.object({ MetricName: z.string(), MetricNamespace: z.string(), MetricValue: z.coerce.number() }),
  ),
});
const accessLog = z.object({ DestinationArn: z.unknown() });

const embedded = z.looseObject({
  _aws: z.object({
    Timestamp: z.int(),
    CloudWatchMetrics: z.array(
      z.object({
        Namespace: z.string(),
        Dimensions: z.array(z.array(z.string())),
        Metrics: z.array(z.object({ Name: z.string() })),
      }),
    ),
  }),
});

export const samplesOf = (template: StackTemplate): Samples => {
  const [stage] = template.all("AWS::ApiGatewayV2::Stage");
  const accessLogName = nameIn(template, accessLog.parse(stage?.Properties.AccessLogSettings).DestinationArn);
  const filters = template.all("AWS::Logs::MetricFilter").map(({ Properties }) => filter.parse(Properties));
  const { access = [], functions = [] } = Object.groupBy(filters, ({ LogGroupName }) =>
    nameIn(template, LogGroupName) === accessLogName ? "access" : "functions",
  );
  const measured: Samples["measured"] = (atMs, [namespace, name], dimensions, value) => ({
    metric: metricIdOf(namespace, name, dimensions),
    atMs,
    value,
  });
  const counted = (of: typeof filters, atMs: number, line: string): readonly Sample[] =>
    of
      .filter(({ FilterPattern }) => matchesFilter(FilterPattern, line))
      .flatMap(({ MetricTransformations }) =>
        MetricTransformations.map(({ MetricName, MetricNamespace, MetricValue }) =>
          measured(atMs, [MetricNamespace, MetricName], {}, MetricValue),
        ),
      );
  return {
    measured,
    logged: (line) => {
      const { data } = embedded.safeParse(jsonIn(line));
      if (data === undefined) return [];
      const { Timestamp, CloudWatchMetrics } = data._aws;
      return CloudWatchMetrics.flatMap(({ Namespace, Dimensions, Metrics }) =>
        Dimensions.flatMap((names) => {
          const dimensions = Object.fromEntries(names.map((name) => [name, String(data[name])]));
          return Metrics.map(({ Name }) => measured(Timestamp, [Namespace, Name], dimensions, Number(data[Name])));
        }),
      );
    },
    accessed: (atMs, line) => counted(access, atMs, line),
    filtered: (atMs, line) => counted(functions, atMs, line),
    invoked: (atMs, FunctionName, hasFailed) => [
      measured(atMs, ["AWS/Lambda", "Invocations"], { FunctionName }, 1),
      measured(atMs, ["AWS/Lambda", "Errors"], { FunctionName }, hasFailed ? 1 : 0),
      measured(atMs, ["AWS/Lambda", "Throttles"], { FunctionName }, 0),
    ],
  };
};

/** Text that is not JSON has no fields. */
const jsonIn = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};
