import { Duration, Stack } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, type IMetric, Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct } from "constructs";
import { METRICS_NAMESPACE } from "../../shared/platform/log.ts";

export interface AlarmsProps {
  readonly stage: string;
  readonly email: string | undefined;
}

export interface SilenceAlarmProps {
  readonly metric: IMetric;
  /** The alarm's text: what a customer loses, then what to do. */
  readonly impact: string;
}

export interface ThresholdAlarmProps extends SilenceAlarmProps {
  readonly threshold: number;
}

/** Every alarm of a stage, and the topic that they notify. */
export class Alarms extends Construct {
  readonly all: Alarm[] = [];
  readonly topic: Topic;
  private readonly stage: string;

  constructor(scope: Construct, id: string, { stage, email }: AlarmsProps) {
    super(scope, id);
    this.stage = stage;
    this.topic = new Topic(this, "Topic", { displayName: `Alarms of ${stage}`, enforceSSL: true });
    // An explicit policy replaces the default policy, which would let CloudWatch publish.
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal("cloudwatch.amazonaws.com")],
        actions: ["sns:Publish"],
        resources: [this.topic.topicArn],
        conditions: { StringEquals: { "aws:SourceAccount": Stack.of(this).account } },
      }),
    );
    if (email !== undefined) this.topic.addSubscription(new EmailSubscription(email));
  }

  /** Alarms when the metric exceeds the threshold in one period. Missing data does not alarm. */
  addThresholdAlarm(id: string, { metric, threshold, impact }: ThresholdAlarmProps): void {
    this.addAlarm(id, impact, {
      metric,
      threshold,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }

  /**
   * Notifies when the metric has no more data points for three periods. An alarm begins in INSUFFICIENT_DATA, so that
   * one that is new, and has no data yet, sends no message; as a breach, the missing data would raise it at once.
   */
  addSilenceAlarm(id: string, { metric, impact }: SilenceAlarmProps): void {
    const alarm = this.addAlarm(id, impact, {
      metric,
      threshold: 0,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.MISSING,
      evaluationPeriods: 3,
    });
    alarm.addInsufficientDataAction(new SnsAction(this.topic));
  }

  /** A metric of this stage that the functions write to their logs (shared/platform/log.ts). */
  stageMetric(name: string, statistic: "Maximum" | "Sum", dimensions: Readonly<Record<string, string>> = {}): Metric {
    return new Metric({
      namespace: METRICS_NAMESPACE,
      metricName: name,
      statistic,
      period: Duration.minutes(5),
      dimensionsMap: { Stage: this.stage, ...dimensions },
    });
  }

  private addAlarm(
    id: string,
    impact: string,
    props: {
      readonly metric: IMetric;
      readonly threshold: number;
      readonly comparisonOperator: ComparisonOperator;
      readonly treatMissingData: TreatMissingData;
      readonly evaluationPeriods?: number;
    },
  ): Alarm {
    const alarm = new Alarm(this, id, { evaluationPeriods: 1, ...props, alarmDescription: impact });
    alarm.addAlarmAction(new SnsAction(this.topic));
    // Those who were notified learn that it is over.
    alarm.addOkAction(new SnsAction(this.topic));
    this.all.push(alarm);
    return alarm;
  }
}
