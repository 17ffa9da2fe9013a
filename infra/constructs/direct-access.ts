import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { CfnTrail, Trail } from "aws-cdk-lib/aws-cloudtrail";
import { Alarm } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { EventField, Rule, RuleTargetInput } from "aws-cdk-lib/aws-events";
import { SnsTopic } from "aws-cdk-lib/aws-events-targets";
import { FilterPattern, LogGroup } from "aws-cdk-lib/aws-logs";
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { METRICS_NAMESPACE } from "../../shared/platform/log.ts";
import { stackName } from "../outputs.ts";
import type { StageSettings } from "../stage-settings.ts";
import { acknowledge } from "./acknowledge.ts";
import { above } from "./alarms.ts";
import type { Data } from "./data.ts";
import type { Service } from "./service.ts";

export interface DirectAccessProps {
  readonly stage: string;
  readonly data: Data;
  readonly service: Service;
  readonly settings: Pick<StageSettings, "logRetentionDays">;
}

/**
 * Records each access to the items of a selling stage's tables by anyone but its functions, and pages when it is a write: with
 * the role of direct access, with an administrator's rights, or by another app of the account. CloudTrail bills what a
 * trail records, which are the calls of people. Source: AWS CloudTrail, "Filtering data events by using advanced event selectors".
 */
export class DirectAccess extends Construct {
  constructor(scope: Construct, id: string, { stage, data, service, settings }: DirectAccessProps) {
    super(scope, id);
    const { partition, region, account } = Stack.of(this);
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
    if (!(defaultChild instanceof CfnTrail)) throw new Error("The CDK makes a trail from another construct");
    // The CDK sets an empty list, and CloudTrail refuses a trail with both kinds of selectors.
    defaultChild.eventSelectors = undefined;
    const only = (field: string, ...values: readonly string[]) => ({ field, equalTo: [...values] });
    defaultChild.advancedEventSelectors = [
      {
        name: "Reads and writes of items, but not by the stage's functions",
        fieldSelectors: [
          only("eventCategory", "Data"),
          only("resources.type", "AWS::DynamoDB::Table"),
          {
            field: "resources.ARN",
            // A ledger is restored and carried over to before the stage adopts it. CloudFormation begins a table's name so.
            startsWith: [
              `arn:${partition}:dynamodb:${region}:${account}:table/${stackName(stage, "Data")}-`,
              ...Object.values(data.tables).map(({ tableArn }) => tableArn),
            ],
          },
          {
            field: "userIdentity.arn",
            notStartsWith: [`arn:${partition}:sts::${account}:assumed-role/${stackName(stage, "Service")}-`],
          },
        ],
      },
    ];
    const writes = logs.addMetricFilter("Writes", {
      filterPattern: FilterPattern.booleanValue("$.readOnly", false),
      metricNamespace: METRICS_NAMESPACE,
      metricName: `${stage}-direct-writes`,
    });
    const alarm = new Alarm(this, "WritesAlarm", {
      ...above({ metric: writes.metric({ statistic: "Sum", period: Duration.minutes(5) }), threshold: 0 }),
      evaluationPeriods: 1,
      alarmDescription: `Balances, keys and orders of ${stage} are changed without its service: a person wrote to its tables with AWS credentials, or tried to. If you do not know of it, see docs/runbook.md, "Direct access".`,
    });
    const action = new SnsAction(service.alarms.topics.page);
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    this.addSecretRule({ stage, data, service });
  }

  /**
   * Who sets secrets can set the key by which the upstream's events are verified, and so end orders. Secrets Manager sends this
   * event without a trail, for each secret's new value. Source: AWS Secrets Manager, "Secret Label Updated event".
   */
  private addSecretRule({ stage, data, service }: Pick<DirectAccessProps, "stage" | "data" | "service">): void {
    new Rule(this, "SecretChanged", {
      description: "Notifies when a secret has a new value",
      eventPattern: {
        source: ["aws.secretsmanager"],
        detailType: ["Secret Label Updated"],
        resources: Object.values(data.secretArns),
        detail: { labelUpdated: ["AWSCURRENT"] },
      },
      targets: [
        new SnsTopic(service.alarms.topics.page, {
          message: RuleTargetInput.fromText(
            `The secret ${EventField.fromPath("$.detail.name")} of ${stage} has a new value. If you do not know of it, see docs/runbook.md, "Direct access".`,
          ),
        }),
      ],
    });
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
