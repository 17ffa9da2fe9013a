import { Duration } from "aws-cdk-lib";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import { Rule, RuleTargetInput } from "aws-cdk-lib/aws-events";
import { SnsTopic } from "aws-cdk-lib/aws-events-targets";
import type { Construct } from "constructs";
import { backupVaultName } from "../outputs.ts";
import type { StageSettings } from "../stage-settings.ts";
import type { Alarms } from "./alarms.ts";

export interface BackupNotificationsProps {
  readonly stage: string;
  readonly recovery: NonNullable<StageSettings["recovery"]>;
  readonly tables: readonly ITable[];
  readonly alarms: Alarms;
}

/** After the planned hour a backup begins within one hour, and ends within another one. */
const LATE_HOURS = 2;

/**
 * Notifies of backups and copies that failed, or never began: until the next one, more would be lost with the region.
 */
export const addBackupNotifications = (
  scope: Construct,
  { stage, recovery, tables, alarms }: BackupNotificationsProps,
): void => {
  new Rule(scope, "FailedBackups", {
    description: "Notifies of failed backups of the tables, and of their copies",
    eventPattern: {
      source: ["aws.backup"],
      detailType: ["Backup Job State Change", "Copy Job State Change"],
      detail: { state: ["ABORTED", "EXPIRED", "FAILED"], resourceArn: tables.map(({ tableArn }) => tableArn) },
    },
    targets: [
      new SnsTopic(alarms.topics.ticket, {
        message: RuleTargetInput.fromText(
          "A backup of a table, or one of its copies, failed: if the region or the account were lost now, more than planned would be. Find the job in AWS Backup; the next one is tried on schedule.",
        ),
      }),
    ],
  });
  // A job that never begins has no event. Source: AWS, "AWS Backup metrics with CloudWatch".
  const hours = recovery.everyHours + LATE_HOURS;
  alarms.addSilenceAlarm("BackupsSilent", {
    metric: new Metric({
      namespace: "AWS/Backup",
      metricName: "NumberOfBackupJobsCompleted",
      statistic: "Sum",
      dimensionsMap: { BackupVaultName: backupVaultName(stage) },
      period: Duration.hours(1),
    }),
    periods: hours,
    urgency: "ticket",
    impact: `No customer loses anything yet, but if the region were lost now, more than planned would be: no backup of a table was completed for ${hours} hours. Check the plan ${stage}-airtime in AWS Backup, its role and the region's settings.`,
  });
};
