import { describe, expect, test } from "vitest";
import * as z from "#zod";
import { stageVariants } from "../../../builders/templates/stage-variants.ts";
import { changedSettings, idIn, mentions, type Resource, templatesOf } from "../../../builders/templates/templates.ts";

const region = "eu-west-1";
const without = templatesOf("prod");
const hourly = templatesOf("prod", { recovery: { region } });
const { data, recovery, service } = hourly;
/** Backups once a day, which are kept for 35 days, with a lock from the third day on. */
const variant = stageVariants["copies in another region"]?.[1];
const daily = templatesOf("prod", variant);
/** Every six hours, for 20 days, in a stage that adopted its tables and keys. */
const adopted = templatesOf("prod", {
  ...stageVariants.adopted?.[1],
  recovery: { region, everyHours: 6, keepDays: 20 },
});
const only = (resources: readonly Resource[] | undefined): Resource => {
  expect(resources).toHaveLength(1);
  const [found] = resources ?? [];
  if (found === undefined) throw new Error("There is no such resource");
  return found;
};

describe("a stage with copies in another region", () => {
  test("the setting alone makes a stack, and only adds backups to the data, and replicas to the keys that are never rotated", () => {
    expect(without.recovery).toBeUndefined();
    const isOwn = ({ id }: Resource): boolean => id.startsWith("Backups");
    expect(without.data.every.filter(isOwn)).toEqual([]);
    const changed = data.every.filter((resource) => !isOwn(resource));
    expect(
      changed.map(({ Properties: { ReplicaRegions: _, ...Properties }, ...rest }) => ({ ...rest, Properties })),
    ).toEqual(without.data.every);
    // GenerateSecretString is the same, so that AWS generates no other value.
    const replicated = changed.filter(({ Properties }) => Properties.ReplicaRegions !== undefined);
    expect(replicated.map(({ id, Properties }) => [id, Properties.ReplicaRegions])).toEqual([
      ["ReferenceKeyFC159260", [{ Region: region }]],
      ["ChecksumKey017C423A", [{ Region: region }]],
      ["WebhookKeyFF363931", [{ Region: region }]],
    ]);
  });

  test("the setting only adds to the service that failed backups and copies, and missing backups, notify the topic of tickets", () => {
    const known = new Set(without.service.every.map(({ id }) => id));
    const added = service.every.filter(({ id }) => !known.has(id));
    expect(added.map(({ Type }) => Type).toSorted()).toEqual(["AWS::CloudWatch::Alarm", "AWS::Events::Rule"]);
    const rule = only(added.filter(({ Type }) => Type === "AWS::Events::Rule"));
    const topics = service.all("AWS::SNS::Topic");
    const topic = only(topics.filter(({ Properties }) => Properties.DisplayName === "Tickets of prod"));
    expect(rule.Properties).toMatchObject({
      EventPattern: {
        source: ["aws.backup"],
        "detail-type": ["Backup Job State Change", "Copy Job State Change"],
        detail: { state: ["ABORTED", "EXPIRED", "FAILED"] },
      },
      Targets: [{ Arn: { Ref: topic.id } }],
    });
    expect(JSON.stringify(rule.Properties.EventPattern)).toMatch(/Prod-Data:\w+Access.*Prod-Data:\w+Ledger/);
    const policies = service.all("AWS::SNS::TopicPolicy").filter(({ Properties }) => mentions(Properties, topic.id));
    expect(JSON.stringify(only(policies))).toContain("events.amazonaws.com");
  });

  test.each([
    [1, 3, hourly],
    [24, 26, daily],
  ])("backups every %i hours that are not completed for %i hours raise an alarm", (_, hours, own) => {
    const alarm = only(
      own.service.all("AWS::CloudWatch::Alarm").filter(({ Properties }) => mentions(Properties, "AWS/Backup")),
    );
    const vault = only(own.data.all("AWS::Backup::BackupVault")).Properties.BackupVaultName;
    expect(alarm.Properties).toMatchObject({
      EvaluationPeriods: hours,
      ComparisonOperator: "LessThanThreshold",
      Threshold: 0,
      Metrics: [
        { Expression: "FILL(m, -1)" },
        {
          MetricStat: {
            Metric: {
              MetricName: "NumberOfBackupJobsCompleted",
              Dimensions: [{ Name: "BackupVaultName", Value: vault }],
            },
            Period: 3_600,
          },
        },
      ],
    });
    // CloudWatch evaluates at most 7 days in periods of an hour or more. Source: AWS, "Evaluating an alarm".
    expect(hours).toBeLessThanOrEqual(7 * 24);
    expect(alarm.Properties.AlarmDescription).toContain(`for ${hours} hours`);
  });

  test("the access, ledger and audit tables are backed up each hour, and each backup is copied to the other region", () => {
    const vault = only(data.all("AWS::Backup::BackupVault"));
    const plan = only(data.all("AWS::Backup::BackupPlan"));
    expect(plan.Properties.BackupPlan).toMatchObject({
      BackupPlanRule: [
        {
          ScheduleExpression: "cron(0 0/1 * * ? *)",
          StartWindowMinutes: 60,
          Lifecycle: { DeleteAfterDays: 7 },
          CopyActions: [{ Lifecycle: { DeleteAfterDays: 7 } }],
        },
      ],
    });
    const text = JSON.stringify(plan.Properties);
    expect(text).toContain(vault.id);
    const copies = only(recovery?.all("AWS::Backup::BackupVault"));
    expect(text).toContain(`:backup:${region}:000000000000:backup-vault:${String(copies.Properties.BackupVaultName)}`);
    const { Resources, IamRoleArn } = z
      .object({ BackupSelection: z.object({ Resources: z.array(z.unknown()), IamRoleArn: z.unknown() }) })
      .parse(only(data.all("AWS::Backup::BackupSelection")).Properties).BackupSelection;
    expect(Resources.map((arn) => data.get(idIn(arn)).id.replace(/[0-9A-F]{8}$/, ""))).toEqual([
      "Access",
      "Ledger",
      "Audit",
    ]);
    expect(JSON.stringify(data.get(idIn(IamRoleArn)).Properties)).toContain("AWSBackupServiceRolePolicyForBackup");
  });

  test("a stage with everyHours has backups accordingly, and one that adopted its tables backs up those", () => {
    const planOf = (own: typeof daily) => JSON.stringify(only(own.data.all("AWS::Backup::BackupPlan")));
    expect(planOf(adopted)).toContain("cron(0 0/6 * * ? *)");
    expect(planOf(daily)).toContain("cron(0 0 * * ? *)");
    const selection = JSON.stringify(only(adopted.data.all("AWS::Backup::BackupSelection")));
    expect(selection).toContain("table/access");
    expect(selection).toContain("table/ledger");
  });

  const vaultsOf = ({ data: own, recovery: other }: Pick<typeof daily, "data" | "recovery">) =>
    [own, other].map((template) => only(template?.all("AWS::Backup::BackupVault")));

  test("the vaults stay when they are taken out of their stack, and no backup can be deleted by hand", () => {
    for (const { DeletionPolicy, UpdateReplacePolicy, Properties } of vaultsOf(hourly)) {
      expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(["RetainExceptOnCreate", "Retain"]);
      expect(Properties.AccessPolicy).toMatchObject({
        Statement: [
          { Effect: "Deny", Principal: { AWS: "*" }, Action: expect.arrayContaining(["backup:DeleteRecoveryPoint"]) },
        ],
      });
    }
  });

  test.each([
    ["7 days", hourly, { MinRetentionDays: 7 }, 2],
    ["20 days", adopted, { MinRetentionDays: 20 }, 2],
    ["35 days and lockAfterDays", daily, { MinRetentionDays: 35, ChangeableForDays: 3 }, 3],
  ])("with %s both vaults are locked for as long, which lets every backup of the plan in", (_, own, lock, rules) => {
    for (const { Properties } of vaultsOf(own)) expect(Properties.LockConfiguration).toEqual(lock);
    const plan = JSON.stringify(only(own.data.all("AWS::Backup::BackupPlan")));
    expect(plan.match(/"DeleteAfterDays":\d+/g)).toEqual(
      new Array(rules).fill(`"DeleteAfterDays":${lock.MinRetentionDays}`),
    );
  });

  test("a vault of another account gets a copy too, and the vaults have the company's keys", () => {
    const { otherAccountVaultArn, vaultKeyArns } = changedSettings("prod", variant).recovery ?? {};
    expect([otherAccountVaultArn, vaultKeyArns]).not.toContain(undefined);
    expect(only(daily.data.all("AWS::Backup::BackupPlan")).Properties.BackupPlan).toMatchObject({
      BackupPlanRule: [
        {
          CopyActions: [
            { Lifecycle: { DeleteAfterDays: 35 } },
            { DestinationBackupVaultArn: otherAccountVaultArn, Lifecycle: { DeleteAfterDays: 35 } },
          ],
        },
      ],
    });
    expect(vaultsOf(daily).map(({ Properties }) => Properties.EncryptionKeyArn)).toEqual([
      vaultKeyArns?.backups,
      vaultKeyArns?.copies,
    ]);
  });

  test("the other region has the role that restores, and outputs with what the procedure needs", () => {
    const role = only(recovery?.all("AWS::IAM::Role"));
    expect(JSON.stringify(role.Properties)).toContain("AWSBackupServiceRolePolicyForRestores");
    expect(idIn(recovery?.outputs.RestoreRole?.Value)).toBe(role.id);
    expect(Object.keys(recovery?.outputs ?? {})).toEqual(["CopyVault", "RestoreRole"]);
  });
});
