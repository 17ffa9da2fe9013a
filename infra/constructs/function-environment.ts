import type { Topic } from "aws-cdk-lib/aws-sns";
import type { QueueName } from "../../functions/function-spec.ts";
import type { FunctionEnvironment } from "../../shared/platform/env.ts";
import { type StageSettings, sells } from "../stage-settings.ts";
import type { Data } from "./data.ts";
import type { QueueConsumer } from "./queue-consumer.ts";

/** The variables of all functions of a stage; what it does not have is empty. */
export const environmentOf = ({
  data: { tables, auditCopy, secretArns, identityKeyArn },
  queues,
  notifications,
  consoleUrl,
  callersUrl,
  settings,
  ownHosts,
}: {
  readonly data: Data;
  readonly queues: Readonly<Record<QueueName, QueueConsumer>>;
  readonly notifications: Topic | undefined;
  readonly consoleUrl: string | undefined;
  readonly callersUrl: string | undefined;
  readonly settings: StageSettings;
  readonly ownHosts: readonly string[];
}): FunctionEnvironment => ({
  ACCESS_TABLE: tables.access.tableName,
  LEDGER_TABLE: tables.ledger.tableName,
  AUDIT_TABLE: tables.audit.tableName,
  CACHE_TABLE: tables.cache.tableName,
  AUDIT_COPY_BUCKET: auditCopy?.bucketName ?? "",
  IDENTITY_KEY_ARN: identityKeyArn,
  ...secretArns,
  OUTCOMES_QUEUE_URL: queues.outcomes.queue.queueUrl,
  DELIVERY_QUEUE_URL: queues.delivery.queue.queueUrl,
  NOTIFICATIONS_TOPIC_ARN: notifications?.topicArn ?? "",
  CONSOLE_URL: consoleUrl ?? "",
  CALLERS_URL: callersUrl ?? "",
  ...settingsValues(settings, ownHosts),
});

/** The variables that come from the settings alone. */
export const settingsValues = (settings: StageSettings, ownHosts: readonly string[]) => ({
  UPSTREAM_BASE_URL: settings.upstreamBaseUrl,
  UPSTREAM_PROFILE: JSON.stringify(settings.upstreamProfile),
  UPSTREAM_WEBHOOK_IPS: settings.upstreamWebhookIps.join(),
  IDENTITY_PRICES: JSON.stringify(settings.identityPrices),
  UPSTREAM_COSTS: JSON.stringify(settings.upstreamCosts),
  AIRTIME_NAIRA_MAX: String(settings.airtimeMax),
  TIME_ZONE: settings.timeZone,
  OPERATOR_ACT_MAX_NAIRA: String(settings.operatorActMaxNaira),
  FOUR_EYES: settings.fourEyes === undefined ? "" : JSON.stringify(settings.fourEyes),
  FLOAT_ALARM_HOURS: String(settings.floatAlarmHours),
  PHONE_RETENTION_DAYS: String(settings.phoneRetentionDays),
  CONSENT_RETENTION_DAYS: String(settings.consentRetentionDays),
  PURCHASES_INITIALLY: settings.adopt === undefined ? "on" : "off",
  QUEUE_MINUTES: String(settings.queue.minutes),
  WORKERS: settings.workers,
  AWS_CALLS: settings.awsCalls,
  SELLS: sells(settings) ? "yes" : "no",
  // A stage without a console has no output of it.
  CONSOLE: settings.console === undefined ? "" : JSON.stringify(settings.console),
  WEBHOOK_ALLOWED_CIDRS: settings.webhookAllowedCidrs.join(),
  WEBHOOK_REFUSED_HOSTS: [...ownHosts, new URL(settings.upstreamBaseUrl).host].join(),
});
