import { Duration, Stack } from "aws-cdk-lib";
import { AlarmStatusWidget, Dashboard, GraphWidget, type IMetric } from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import { batchesOf } from "../../shared/platform/batches.ts";
import type { Alarms } from "./alarms.ts";
import type { Api } from "./api.ts";
import type { CallersApi } from "./callers-api.ts";
import type { QueueConsumer } from "./queue-consumer.ts";
import type { ServiceFunctions } from "./service-functions.ts";

export interface DashboardProps {
  readonly stage: string;
  readonly api: Api;
  /** The callers' own API, if they have one: its requests are shown then. */
  readonly callers: CallersApi | undefined;
  readonly functions: ServiceFunctions;
  readonly queues: Readonly<Record<string, QueueConsumer>>;
  readonly alarms: Alarms;
}

/** Source: AWS, "Dashboard body structure and syntax", alarm widgets. */
const ALARMS_PER_WIDGET_MAX = 100;

/** One page with alarms, requests, queues and open transactions. Returns its URL. */
export const addDashboard = (scope: Construct, props: DashboardProps): string => {
  const { stage, api, alarms } = props;
  const callersApi = props.callers ?? api;
  const functions = [...props.functions.all.values()];
  const queues = Object.values(props.queues);
  const age = { period: Duration.minutes(1), statistic: "Maximum" };
  const dashboard = new Dashboard(scope, "Dashboard", {
    dashboardName: `${stage}-airtime`,
    defaultInterval: Duration.hours(24),
  });
  for (const some of batchesOf(alarms.all, ALARMS_PER_WIDGET_MAX)) {
    dashboard.addWidgets(new AlarmStatusWidget({ title: "Alarms", alarms: [...some], width: 24, height: 8 }));
  }
  dashboard.addWidgets(
    graph("Requests", [
      callersApi.apiMetric("Count", "Sum"),
      callersApi.apiMetric("4xx", "Sum"),
      callersApi.apiMetric("5xx", "Sum"),
    ]),
    graph("Latency, ms", [callersApi.apiMetric("Latency", "p50"), callersApi.apiMetric("Latency", "p99")]),
    graph("500, 5xx and 429 of the gateway", [api.serverErrors, api.throttles]),
  );
  dashboard.addWidgets(
    graph(
      "Oldest message, s",
      queues.map(({ queue }) => queue.metricApproximateAgeOfOldestMessage(age)),
    ),
    graph(
      "Dead letters",
      queues.map(({ deadLetters }) => deadLetters.metricApproximateNumberOfMessagesVisible(age)),
    ),
    graph("Ledger stream, ms behind", [
      props.functions.named("enqueue-webhooks").functionMetric("IteratorAge", "Maximum"),
    ]),
  );
  dashboard.addWidgets(
    graph("Oldest open transaction, s", [
      alarms.stageMetric("OldestOpenSeconds", "Maximum"),
      alarms.stageMetric("OldestUnrefundedSeconds", "Maximum"),
    ]),
    graph("Stuck transactions, wallet mismatches", [
      alarms.stageMetric("StuckTransactions", "Maximum"),
      alarms.stageMetric("LedgerMismatches", "Maximum"),
    ]),
    graph("Purchases that ended within 30 s, percent", [alarms.stageMetric("EndedIn30sPercent", "Minimum")]),
    graph(
      "Functions' errors",
      functions.map((each) => each.functionMetric("Errors", "Sum")),
    ),
  );
  dashboard.addWidgets(
    graph("Queued orders", [alarms.stageMetric("QueuedOrders", "Maximum")]),
    graph("Oldest queued order, s", [alarms.stageMetric("OldestQueuedSeconds", "Maximum")]),
    graph("Orders that the upstream's rate limit refused", [alarms.stageMetric("UpstreamRateLimited", "Sum")]),
  );
  const { region } = Stack.of(scope);
  return `https://${region}.console.aws.amazon.com/cloudwatch/home?region=${region}#dashboards/dashboard/${stage}-airtime`;
};

const graph = (title: string, left: IMetric[]): GraphWidget => new GraphWidget({ title, left, width: 8 });
