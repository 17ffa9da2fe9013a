import { ArnFormat, Duration, Stack } from "aws-cdk-lib";
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from "aws-cdk-lib/aws-backup";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import { Schedule } from "aws-cdk-lib/aws-events";
import { Construct } from "constructs";
import { backupVaultName, copyVaultName } from "../outputs.ts";
import type { StageSettings } from "../stage-settings.ts";
import { backupRole, keptVault } from "./recovery.ts";

export interface TableBackupsProps {
  readonly stage: string;
  readonly recovery: NonNullable<StageSettings["recovery"]>;
  readonly tables: readonly ITable[];
}

/** Backups of tables by a plan, each copied to the recovery region, and to a vault of another account if there is one. */
export class TableBackups extends Construct {
  constructor(scope: Construct, id: string, { stage, recovery, tables }: TableBackupsProps) {
    super(scope, id);
    const { region, everyHours, keepDays, otherAccountVaultArn, vaultKeyArns } = recovery;
    const backupVault = keptVault(this, "Vault", backupVaultName(stage), recovery, vaultKeyArns?.backups);
    const copies = Stack.of(this).formatArn({
      service: "backup",
      region,
      resource: "backup-vault",
      resourceName: copyVaultName(stage),
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    const deleteAfter = Duration.days(keepDays);
    const copyTo = (vaultId: string, vaultArn: string) => ({
      destinationBackupVault: BackupVault.fromBackupVaultArn(this, vaultId, vaultArn),
      deleteAfter,
    });
    const rule = new BackupPlanRule({
      ruleName: "copied",
      backupVault,
      scheduleExpression: Schedule.cron({ minute: "0", hour: everyHours === 24 ? "0" : `0/${everyHours}` }),
      // By default AWS may begin 8 hours late, and what is lost with the region would grow by as much.
      startWindow: Duration.hours(1),
      completionWindow: Duration.hours(3),
      deleteAfter,
      copyActions: [
        copyTo("Copies", copies),
        ...(otherAccountVaultArn === undefined ? [] : [copyTo("OtherAccount", otherAccountVaultArn)]),
      ],
    });
    new BackupPlan(this, "Plan", { backupPlanName: `${stage}-airtime`, backupPlanRules: [rule] }).addSelection(
      "Tables",
      {
        role: backupRole(this, "Backup", "AWSBackupServiceRolePolicyForBackup"),
        disableDefaultBackupPolicy: true,
        resources: tables.map(({ tableArn }) => BackupResource.fromArn(tableArn)),
      },
    );
  }
}
