import { CfnOutput, RemovalPolicy, Stack, type StackProps } from "aws-cdk-lib";
import { BackupVault } from "aws-cdk-lib/aws-backup";
import { ManagedPolicy, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import { copyVaultName } from "../outputs.ts";
import { acknowledge } from "./acknowledge.ts";

export interface RecoveryProps extends StackProps {
  readonly stage: string;
}

/**
 * What must exist in the recovery region before the stage's own region is lost: the vault of the copies, and the role
 * that restores from it.
 */
export class Recovery extends Stack {
  constructor(scope: Construct, id: string, { stage, ...props }: RecoveryProps) {
    super(scope, id, props);
    const vault = new BackupVault(this, "Copies", {
      backupVaultName: copyVaultName(stage),
      // Also for those who may delete backups; AWS Backup itself still deletes the expired ones.
      blockRecoveryPointDeletion: true,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    const role = backupRole(this, "Restore", "AWSBackupServiceRolePolicyForRestores");
    const addOutput = (name: string, value: string, description: string): void => {
      new CfnOutput(this, `Output${name}`, { value, description }).overrideLogicalId(name);
    };
    addOutput("CopyVault", vault.backupVaultName, "Vault of the copies");
    addOutput("RestoreRole", role.roleArn, "Role for aws backup start-restore-job");
  }
}

/** A role of AWS Backup. */
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
