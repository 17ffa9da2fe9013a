import { Duration, Stack } from "aws-cdk-lib";
import { AlarmStatusWidget, Dashboard, GraphWidget, type IMetric } from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import type { FunctionName } from "../functions.ts";
import type { Alarms } from "./alarms.ts";
import type { Api } from "./api.ts";
import type { QueueWorker } from "./queue-worker.ts";
import type { ServiceFunction } from "./service-function.ts";

export interface DashboardProps {
  readonly stage: string;
  readonly api: Api;
  readonly functions: Readonly<Record<FunctionName, ServiceFunction>>;
  readonly workers: Readonly<Record<string, QueueWorker>>;
  readonly alarms: Alarms;
}

/** One page: what rings, what apps see, what waits, and what is open. Resolves to its address. */
export const addDashboard = (scope: Construct, props: DashboardProps): string => {
  const { stage, api, alarms } = props;
  const functions = Object.values(props.functions);
  const workers = Object.values(props.workers);
  const age = { period: Duration.minutes(1), statistic: "Maximum" };
  const dashboard = new Dashboard(scope, "Dashboard", {
    dashboardName: `${stage}-airtime`,
    defaultInterval: Duration.hours(24),
  });
  dashboard.addWidgets(new AlarmStatusWidget({ title: "Alarms", alarms: alarms.all, width: 24, height: 8 }));
  dashboard.addWidgets(
    graph("Requests", [api.figure("Count", "Sum"), api.figure("4xx", "Sum"), api.figure("5xx", "Sum")]),
    graph("Latency, ms", [api.figure("Latency", "p50"), api.figure("Latency", "p99")]),
    graph("Answered by the gateway itself; refused by the upstream's limit", [
      api.failures,
      alarms.ownFigure("UpstreamRateLimited", "Sum"),
    ]),
  );
  dashboard.addWidgets(
    graph(
      "Oldest message, s",
      workers.map(({ queue }) => queue.metricApproximateAgeOfOldestMessage(age)),
    ),
    graph(
      "Dead letters",
      workers.map(({ deadLetters }) => deadLetters.metricApproximateNumberOfMessagesVisible(age)),
    ),
    graph("Ledger's stream, ms behind", [props.functions["enqueue-webhooks"].figure("IteratorAge", "Maximum")]),
  );
  dashboard.addWidgets(
    graph("Open for, s", [
      alarms.ownFigure("OldestOpenSeconds", "Maximum"),
      alarms.ownFigure("OldestUnrefundedSeconds", "Maximum"),
    ]),
    graph("Stuck, mismatches", [
      alarms.ownFigure("StuckTransactions", "Maximum"),
      alarms.ownFigure("LedgerMismatches", "Maximum"),
    ]),
    graph(
      "Functions' errors",
      functions.map((each) => each.figure("Errors", "Sum")),
    ),
  );
  const { region } = Stack.of(scope);
  return `https://${region}.console.aws.amazon.com/cloudwatch/home?region=${region}#dashboards/dashboard/${stage}-airtime`;
};

const graph = (title: string, left: IMetric[]): GraphWidget => new GraphWidget({ title, left, width: 8 });
