import { Duration } from "aws-cdk-lib";
import { MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, MetricFilter } from "aws-cdk-lib/aws-logs";
import type { TableName } from "../../functions/function-spec.ts";
import { livePrefixes } from "../../shared/contract/transaction.ts";
import { STUCK_MS } from "../../shared/ledger/transaction.ts";
import { METRICS_NAMESPACE } from "../../shared/platform/log.ts";
import type { LogEventSpec } from "../../shared/platform/log-catalog.ts";
import { logEvents } from "../../shared/platform/log-events.ts";
import { attentionAgeS } from "../../shared/queued-orders/queue-policy.ts";
import { outputOf } from "../outputs.ts";
import type { StageSettings } from "../stage-settings.ts";
import { type TableShape, tables as tableShapes } from "../tables.ts";
import { type Alarms, filled } from "./alarms.ts";
import type { Api } from "./api.ts";
import { type Data, tableNames } from "./data.ts";
import type { ServiceFunctions } from "./service-functions.ts";

export interface ServiceAlarmsProps {
  readonly api: Api;
  readonly functions: ServiceFunctions;
  readonly settings: StageSettings;
  readonly tables: Data["tables"];
}

const MINUTE_S = 60;
/** One person who repeats an order for a wrong number is no outage. */
const ENDED_PURCHASES_MIN = 3;
/** Where an hour has one order, this is the least number of orders. A least number in each hour would be reached in no such stage. */
const FAILING_HOURS_MIN = 5;
const FAILED_SHARE_MAX = 0.5;
/** The page shows no action that its person may not do: a person meets one by a role that changed while it was open. */
const CONSOLE_REFUSALS_MAX = 10;

/** By then AWS has renewed a certificate that it issued, if the DNS record of its validation stands. */
const CERTIFICATE_DAYS_MIN = 30;

/** Thresholds on what reconcile-ledger measures. */
const thresholds = [
  {
    name: "OldestOpenSeconds",
    id: "OpenFor15Minutes",
    threshold: STUCK_MS / 1_000,
    urgency: "ticket",
    impact: "A customer's money has been debited for 15 minutes without an outcome. admin transactions list --stuck.",
  },
  {
    name: "OpenOver24Hours",
    id: "OpenFor24Hours",
    threshold: 0,
    urgency: "page",
    impact:
      "A customer has waited for an outcome for 24 hours, longer than the refund framework allows: ask the upstream and resolve it today. admin transactions list --stuck, or --waiting if it was not sent.",
  },
  {
    name: "StuckTransactions",
    id: "ManyStuck",
    threshold: 10,
    urgency: "page",
    impact: "Many customers wait for an outcome: the upstream or its events have stopped. admin doctor.",
  },
  {
    name: "OldestUnrefundedSeconds",
    id: "NotRefunded",
    threshold: 15 * MINUTE_S,
    urgency: "ticket",
    impact: "An identity check without a result was not refunded for 15 minutes. Read the log of reconcile-ledger.",
  },
  {
    name: "LedgerMismatches",
    id: "LedgerMismatches",
    threshold: 0,
    urgency: "page",
    impact:
      "A customer's balance is wrong: it differs from its ledger entries. Investigate before more money moves: admin wallet verify.",
  },
] as const;

/** The alarms that belong to no single queue, stream or schedule. */
export const addServiceAlarms = (alarms: Alarms, { api, functions, settings, tables }: ServiceAlarmsProps): void => {
  const { logBytesPerHourMax, queue } = settings;
  for (const [name, each] of functions.all) {
    const id = each.node.id;
    alarms.addThresholdAlarm(`${id}Errors`, {
      metric: each.functionMetric("Errors", "Sum"),
      threshold: 0,
      // What one crash leaves open has alarms of its own, and a new version is rolled back by its own (canary-release.ts).
      repeated: true,
      urgency: "ticket",
      impact: `${each.spec.impact} ${name} crashes or times out again and again: read its log.`,
    });
    alarms.addThresholdAlarm(`${id}LogBytes`, {
      metric: each.logBytes(),
      threshold: logBytesPerHourMax,
      urgency: "ticket",
      impact: `No customer loses anything, but costs rise: ${name} logs far more than usual. Read its log.`,
    });
    alarms.addThresholdAlarm(`${id}Throttles`, {
      metric: each.functionMetric("Throttles", "Sum"),
      threshold: 0,
      urgency: "ticket",
      impact: `${each.spec.impact} ${name} is throttled: raise the concurrency of the account or the function.`,
    });
  }
  addTableAlarms(alarms, tables);
  // What happens once is in the alarms of the functions and of their log events.
  alarms.addThresholdAlarm("ServerErrors", {
    metric: api.serverErrors,
    threshold: 0,
    repeated: true,
    urgency: "page",
    impact:
      "Callers get 500 again and again, or a 5xx that no function returned, and do not know the outcome: they retry with the same reference. Check the access logs.",
  });
  alarms.addThresholdAlarm("GatewayThrottles", {
    metric: api.throttles,
    threshold: 0,
    repeated: true,
    urgency: "page",
    impact:
      "Again and again callers, or the upstream, get a 429 of the gateway without an X-Error-Code: they send again. Find the route in the access logs; raise requestsPerSecondMax if the requests are real.",
  });
  if (settings.domain !== undefined) {
    alarms.addFloorAlarm("CertificateEnds", {
      // Source: AWS CDK, `ICertificate.metricDaysToExpiry`: the metric ends with the certificate.
      metric: new Metric({
        namespace: "AWS/CertificateManager",
        metricName: "DaysToExpiry",
        statistic: "Minimum",
        dimensionsMap: { CertificateArn: settings.domain.certificateArn },
        period: Duration.days(1),
      }),
      threshold: CERTIFICATE_DAYS_MIN,
      keepsState: true,
      urgency: "ticket",
      impact: `In less than ${CERTIFICATE_DAYS_MIN} days no app can connect to ${settings.domain.name}: its certificate ends. AWS was to renew one that it issued before that, and renews none that was imported: docs/deployment.md, "Set a domain".`,
    });
  }
  if (settings.console !== undefined) {
    alarms.addThresholdAlarm("ConsoleRefusals", {
      metric: api.consoleRefusals,
      threshold: CONSOLE_REFUSALS_MAX,
      urgency: "ticket",
      impact: `No customer loses anything, but a person tries what they may not do: more than ${CONSOLE_REFUSALS_MAX} actions of the console were refused in 5 minutes. Find the person in the log of console-api; runbook, "Refused actions of the console".`,
    });
  }
  addPurchaseAlarms(alarms, functions);
  for (const { id, name, ...props } of thresholds) {
    alarms.addThresholdAlarm(id, { metric: alarms.stageMetric(name, "Maximum"), ...props });
  }
  alarms.addThresholdAlarm("OrdersWaitLong", {
    metric: alarms.stageMetric("OldestQueuedSeconds", "Maximum"),
    threshold: attentionAgeS(queue.minutes),
    urgency: "ticket",
    impact: `A customer's paid order waits for the upstream's rate limit, and is refunded after ${queue.minutes} minutes. admin transactions list --waiting; add an upstream key, or ask the upstream for a higher limit.`,
  });
  alarms.addFloorAlarm("FloatLow", {
    metric: alarms.stageMetric("FloatHoursLeft", "Minimum"),
    threshold: settings.floatAlarmHours,
    urgency: "page",
    impact: `Orders will fail and be refunded: what was paid to the upstream lasts for less than ${settings.floatAlarmHours} hours at the pace of the last 24. Pay the upstream, and book it: admin float fund.`,
  });
  alarms.addFloorAlarm("EndedLate", {
    metric: alarms.stageMetric("EndedIn30sPercent", "Minimum"),
    threshold: settings.endedIn30sPercentMin,
    urgency: "ticket",
    impact: `Customers wait too long: of the purchases of the last 24 hours fewer than ${settings.endedIn30sPercentMin} percent were delivered or refunded within 30 seconds. admin refund-clock report says of which network and kind.`,
  });
  for (const [event, spec] of Object.entries<LogEventSpec>(logEvents)) {
    if (spec.level !== "alarm") continue;
    const id = `Event-${event}`;
    const metric = alarms.stageMetric("Alarms", "Sum", { Event: event });
    const impact = `${spec.meaning} ${spec.action} Log event: ${event}.`;
    if (!("stopsSales" in spec)) {
      alarms.addThresholdAlarm(id, { metric, threshold: 0, impact, urgency: spec.urgency ?? "ticket" });
      continue;
    }
    alarms.addSalesAlarm(id, { metric, impact, repeated: spec.repeated });
    if (spec.repeated) addDailyAlarm(alarms, `Daily-${event}`, { metric, threshold: 0, impact });
  }
  alarms.addSellsNothing();
};

/** A stage with an order in some hours never has what is repeated in 3 of 12 periods of 5 minutes. */
const addDailyAlarm = (
  alarms: Alarms,
  id: string,
  {
    hours = 3,
    ...daily
  }: { readonly metric: Metric; readonly threshold: number; readonly impact: string; readonly hours?: number },
): void =>
  alarms.addThresholdAlarm(id, {
    ...daily,
    metric: daily.metric.with({ period: Duration.hours(1) }),
    repeated: { hours },
    urgency: "ticket",
    impact: `In ${hours} hours of a day: ${daily.impact}`,
  });

/**
 * The share of failed ones among the live purchases that ended, whatever ended them. A field that the upstream refuses, and
 * a plan that it does not sell, are the caller's; what waited too long has an alarm of its own.
 */
const addPurchaseAlarms = (alarms: Alarms, functions: ServiceFunctions): void => {
  const { logs } = functions.named("enqueue-webhooks");
  const metric = new Metric({
    namespace: METRICS_NAMESPACE,
    metricName: `PurchasesFailed-${alarms.stage}`,
    statistic: "Average",
    period: Duration.minutes(5),
  });
  for (const [id, metricValue, ending] of [
    ["Delivered", "0", '$.status = "success"'],
    ["NotDelivered", "1", '$.code = "delivery_failed"'],
  ] as const) {
    const isPurchase = [livePrefixes.data, livePrefixes.airtime].map((prefix) => `($.reference = "${prefix}*")`);
    new MetricFilter(logs, id, {
      logGroup: logs,
      filterPattern: FilterPattern.literal(
        `{ ($.event = "change.handled") && (${ending}) && (${isPurchase.join(" || ")}) }`,
      ),
      metricNamespace: METRICS_NAMESPACE,
      metricName: metric.metricName,
      metricValue,
    });
  }
  // A period with fewer purchases says nothing.
  const share = new MathExpression({
    expression: `IF(n >= ${ENDED_PURCHASES_MIN}, m, 0)`,
    usingMetrics: { m: metric, n: metric.with({ statistic: "SampleCount" }) },
    period: metric.period,
  });
  const todo = 'docs/runbook.md, "Low success rate".';
  alarms.addThresholdAlarm("PurchasesFail", {
    metric: share,
    threshold: FAILED_SHARE_MAX,
    repeated: true,
    urgency: "ticket",
    impact: `Customers do not get what they ordered, and are refunded: again and again more than half of the purchases fail. ${todo}`,
  });
  addDailyAlarm(alarms, "DailyPurchasesFail", {
    metric,
    threshold: FAILED_SHARE_MAX,
    hours: FAILING_HOURS_MIN,
    impact: `Customers do not get what they ordered, and are refunded: more than half of the purchases fail. ${todo}`,
  });
  alarms.addSalesAlarm("AllPurchasesFail", {
    metric: share,
    threshold: 0.9,
    repeated: true,
    impact: `Nothing is sold: again and again more than nine of ten purchases fail, and are refunded. ${todo}`,
  });
};

/** What a customer loses while a table or its indexes are throttled. */
const throttled: Readonly<Record<TableName, string>> = {
  access: "Callers get a 5xx and send again: their requests are not counted in time.",
  ledger: "Orders are refused with 503 before they cost anything, and settlements, refunds and webhooks are late.",
  audit: "People cannot change anything in the console or by a command.",
  cache: "Orders are refused with 503 while the switch of purchases cannot be read, and catalogs become stale.",
};

/**
 * Throttles of each table and each index, which a caller sees as a 503 only. A table's metric leaves out its indexes,
 * and a throttled write of an index throttles the table. Source: AWS, "DynamoDB metrics and dimensions".
 */
const addTableAlarms = (alarms: Alarms, tables: Data["tables"]): void => {
  for (const name of tableNames) {
    const { indexes }: TableShape = tableShapes[name];
    for (const index of [undefined, ...indexes.map((each) => each.name)]) {
      for (const kind of ["Read", "Write"]) {
        alarms.addThresholdAlarm(`${outputOf(name)}${outputOf(index ?? "")}${kind}Throttles`, {
          // CloudWatch ignores missing data of this namespace, and there is data only where something was throttled:
          // the alarm would never end. Source: AWS, "PutMetricAlarm", TreatMissingData.
          metric: filled(
            new Metric({
              namespace: "AWS/DynamoDB",
              metricName: `${kind}ThrottleEvents`,
              statistic: "Sum",
              dimensionsMap: {
                TableName: tables[name].tableName,
                ...(index !== undefined && { GlobalSecondaryIndexName: index }),
              },
              period: Duration.minutes(5),
            }),
            0,
          ),
          threshold: 0,
          repeated: true,
          urgency: "page",
          impact: `${throttled[name]} DynamoDB throttles ${kind.toLowerCase()}s of the ${index === undefined ? `${name} table` : `index ${index}`}: runbook, "Throttled table".`,
        });
      }
    }
  }
};
