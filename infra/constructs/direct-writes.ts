import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { CfnTrail, Trail } from "aws-cdk-lib/aws-cloudtrail";
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { stackName } from "../outputs.ts";
import type { StageSettings } from "../stage-settings.ts";
import { acknowledge } from "./acknowledge.ts";
import type { Data } from "./data.ts";
import type { Service } from "./service.ts";

export interface DirectWritesProps {
  readonly stage: string;
  readonly data: Data;
  readonly service: Service;
  readonly settings: Pick<StageSettings, "logRetentionDays">;
}

/**
 * Pages when items of a selling stage's tables are written by anyone but its functions: with the role of direct access, with an
 * administrator's rights, or by another app of the account. The trail has these calls alone, so it costs nothing while
 * there are none. Source: AWS CloudTrail, "Filtering data events by using advanced event selectors".
 */
export class DirectWrites extends Construct {
  constructor(scope: Construct, id: string, { stage, data, service, settings }: DirectWritesProps) {
    super(scope, id);
    const { partition, account } = Stack.of(this);
    const logs = new LogGroup(this, "Logs", {
      retention: settings.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const trail = new Trail(this, "Trail", {
      bucket: this.trailBucket(settings.logRetentionDays),
      cloudWatchLogGroup: logs,
      sendToCloudWatchLogs: true,
      isMultiRegionTrail: false,
      includeGlobalServiceEvents: false,
    });
    const { defaultChild } = trail.node;
    if (!(defaultChild instanceof CfnTrail)) throw new Error("CDK makes the trail otherwise");
    const only = (field: string, ...values: readonly string[]) => ({ field, equalTo: [...values] });
    defaultChild.advancedEventSelectors = [
      {
        name: "Writes to items, but not by the stage's functions",
        fieldSelectors: [
          only("eventCategory", "Data"),
          only("resources.type", "AWS::DynamoDB::Table"),
          only("readOnly", "false"),
          only("resources.ARN", ...Object.values(data.tables).map(({ tableArn }) => tableArn)),
          {
            field: "userIdentity.arn",
            notStartsWith: [`arn:${partition}:sts::${account}:assumed-role/${stackName(stage, "Service")}-`],
          },
        ],
      },
    ];
    const alarm = new Alarm(this, "Alarm", {
      metric: new Metric({
        namespace: "AWS/Logs",
        metricName: "IncomingLogEvents",
        statistic: "Sum",
        dimensionsMap: { LogGroupName: logs.logGroupName },
        period: Duration.minutes(5),
      }),
      threshold: 0,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      evaluationPeriods: 1,
      alarmDescription: `Balances, keys and orders of ${stage} are changed without its service: a person wrote to its tables with AWS credentials, or tried to. If you do not know of it, see docs/runbook.md, "Direct access".`,
    });
    const action = new SnsAction(service.alarms.topics.page);
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
  }

  /** CloudTrail requires a bucket, also where it sends its events to a log group. */
  private trailBucket(days: number): Bucket {
    const bucket = new Bucket(this, "Bucket", {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      lifecycleRules: [{ expiration: Duration.days(days) }],
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    acknowledge(bucket, "S1", "It is a log itself");
    return bucket;
  }
}
