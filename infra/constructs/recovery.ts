import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from "aws-cdk-lib";
import { BackupVault } from "aws-cdk-lib/aws-backup";
import { ManagedPolicy, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";
import { copyVaultName } from "../outputs.ts";
import type { StageSettings } from "../stage-settings.ts";
import { acknowledge } from "./acknowledge.ts";

export interface RecoveryProps extends StackProps {
  readonly stage: string;
  readonly recovery: NonNullable<StageSettings["recovery"]>;
}

/**
 * What must exist in the recovery region before the stage's own region is lost: the vault of the copies, and the role
 * that restores from it.
 */
export class Recovery extends Stack {
  constructor(scope: Construct, id: string, { stage, recovery, ...props }: RecoveryProps) {
    super(scope, id, props);
    const vault = keptVault(this, "Copies", copyVaultName(stage), recovery, recovery.vaultKeyArns?.copies);
    const role = backupRole(this, "Restore", "AWSBackupServiceRolePolicyForRestores");
    const addOutput = (name: string, value: string, description: string): void => {
      new CfnOutput(this, `Output${name}`, { value, description }).overrideLogicalId(name);
    };
    addOutput("CopyVault", vault.backupVaultName, "Vault of the copies");
    addOutput("RestoreRole", role.roleArn, "Role for aws backup start-restore-job");
  }
}

/** A vault whose backups only AWS Backup deletes, when they have expired. */
export const keptVault = (
  scope: Construct,
  id: string,
  backupVaultName: string,
  { keepDays, lockAfterDays }: RecoveryProps["recovery"],
  keyArn: string | undefined,
): BackupVault =>
  new BackupVault(scope, id, {
    backupVaultName,
    ...(keyArn !== undefined && { encryptionKey: Key.fromKeyArn(scope, `${id}Key`, keyArn) }),
    blockRecoveryPointDeletion: true,
    // Without a date, a person who may remove the lock can still shorten what is kept.
    lockConfiguration: {
      minRetention: Duration.days(keepDays),
      ...(lockAfterDays !== undefined && { changeableFor: Duration.days(lockAfterDays) }),
    },
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  });

export const backupRole = (scope: Construct, id: string, managedPolicy: string): Role => {
  const role = new Role(scope, `${id}Role`, {
    assumedBy: new ServicePrincipal("backup.amazonaws.com"),
    managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName(`service-role/${managedPolicy}`)],
  });
  acknowledge(
    role,
    `IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/${managedPolicy}]`,
    "AWS Backup documents this policy as what it needs, and changes it with its features",
  );
  return role;
};
