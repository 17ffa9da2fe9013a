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

export interface SilenceProps {
  readonly metric: IMetric;
  /** What a customer loses, and where to begin: the alarm's text. */
  readonly impact: string;
}

export interface AlarmProps extends SilenceProps {
  readonly threshold: number;
}

/** Every alarm of a stage, and who is told. */
export class Alarms extends Construct {
  readonly all: Alarm[] = [];
  readonly topic: Topic;
  private readonly stage: string;

  constructor(scope: Construct, id: string, { stage, email }: AlarmsProps) {
    super(scope, id);
    this.stage = stage;
    this.topic = new Topic(this, "Topic", { displayName: `Alarms of ${stage}`, enforceSSL: true });
    // A policy of its own takes the place of the default one, which would let alarms in.
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

  /** Rings when the metric is above the threshold in one period. Silence is no alarm. */
  whenAbove(id: string, { metric, threshold, impact }: AlarmProps): void {
    this.ring(id, impact, {
      metric,
      threshold,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }

  /** Rings when the metric says nothing, or nothing but 0, for one period. */
  whenSilent(id: string, { metric, impact }: SilenceProps): void {
    this.ring(id, impact, {
      metric,
      threshold: 0,
      comparisonOperator: ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.BREACHING,
    });
  }

  /** A figure of this stage that the functions put into their logs (shared/platform/log.ts). */
  ownFigure(name: string, statistic: "Maximum" | "Sum", dimensions: Readonly<Record<string, string>> = {}): Metric {
    return new Metric({
      namespace: METRICS_NAMESPACE,
      metricName: name,
      statistic,
      period: Duration.minutes(5),
      dimensionsMap: { Stage: this.stage, ...dimensions },
    });
  }

  private ring(
    id: string,
    impact: string,
    props: {
      readonly metric: IMetric;
      readonly threshold: number;
      readonly comparisonOperator: ComparisonOperator;
      readonly treatMissingData: TreatMissingData;
    },
  ): void {
    const alarm = new Alarm(this, id, { ...props, evaluationPeriods: 1, alarmDescription: impact });
    alarm.addAlarmAction(new SnsAction(this.topic));
    this.all.push(alarm);
  }
}
