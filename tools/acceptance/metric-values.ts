import { CloudWatchClient, GetMetricDataCommand, type MetricDataQuery } from "@aws-sdk/client-cloudwatch";
import { MINUTE_MS } from "../../shared/contract/values/durations.ts";

export type Metric = {
  readonly namespace: string;
  readonly name: string;
  readonly statistic: "Sum" | "Maximum";
  readonly dimensions: Readonly<Record<string, string>>;
};

/** One value for each metric, over the time since `from`; 0 where CloudWatch has no data. */
export const metricValues = async (metrics: readonly Metric[], from: Date): Promise<readonly number[]> => {
  const queries = metrics.map(({ namespace, name, statistic, dimensions }, index): MetricDataQuery => {
    const Dimensions = Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }));
    const Metric = { Namespace: namespace, MetricName: name, Dimensions };
    return { Id: `m${index}`, MetricStat: { Metric, Period: 60, Stat: statistic } };
  });
  const client = new CloudWatchClient({});
  const span = { StartTime: from, EndTime: new Date(Date.now() + MINUTE_MS) };
  const { MetricDataResults = [] } = await client.send(
    new GetMetricDataCommand({ ...span, MetricDataQueries: queries }),
  );
  client.destroy();
  return metrics.map(({ statistic }, index) => {
    const values = MetricDataResults.find(({ Id }) => Id === `m${index}`)?.Values ?? [];
    return values.reduce((one, other) => (statistic === "Sum" ? one + other : Math.max(one, other)), 0);
  });
};
