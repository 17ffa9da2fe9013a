import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import { Rule, RuleTargetInput } from "aws-cdk-lib/aws-events";
import { SnsTopic } from "aws-cdk-lib/aws-events-targets";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";

export interface BackupNotificationsProps {
  readonly tables: readonly ITable[];
  /** Which gets the notifications. */
  readonly topic: ITopic;
}

/** Notifies of backups and copies that failed: until the next one, more would be lost with the region. */
export const addBackupNotifications = (scope: Construct, { tables, topic }: BackupNotificationsProps): void => {
  new Rule(scope, "FailedBackups", {
    description: "Notifies of failed backups of the tables, and of their copies to another region",
    eventPattern: {
      source: ["aws.backup"],
      detailType: ["Backup Job State Change", "Copy Job State Change"],
      detail: { state: ["ABORTED", "EXPIRED", "FAILED"], resourceArn: tables.map(({ tableArn }) => tableArn) },
    },
    targets: [
      new SnsTopic(topic, {
        message: RuleTargetInput.fromText(
          "A backup of a table, or its copy in another region, failed: if the region were lost now, more than planned would be. Find the job in AWS Backup; the next one is tried on schedule.",
        ),
      }),
    ],
  });
};
