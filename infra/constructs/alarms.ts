import { Duration } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, type IMetric, Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct } from "constructs";
import { METRICS_NAMESPACE } from "../../shared/platform/log.ts";

export interface AlarmProps {
  readonly metric: IMetric;
  readonly threshold: number;
  /** What a customer loses, and where to begin: it is the alarm's text. */
  readonly impact: string;
}

/** Every alarm of a stage, and who is told. */
export class Alarms extends Construct {
  readonly all: Alarm[] = [];
  private readonly topic: Topic;

  constructor(scope: Construct, id: string, email: string | undefined) {
    super(scope, id);
    this.topic = new Topic(this, "Topic", { enforceSSL: true });
    if (email !== undefined) this.topic.addSubscription(new EmailSubscription(email));
  }

  /** Rings when the metric is above the threshold in one period. Silence is no alarm. */
  whenAbove(id: string, { metric, threshold, impact }: AlarmProps): Alarm {
    const alarm = new Alarm(this, id, {
      metric,
      threshold,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: impact,
    });
    alarm.addAlarmAction(new SnsAction(this.topic));
    this.all.push(alarm);
    return alarm;
  }
}

/** A figure that the functions put into their logs (shared/platform/log.ts). */
export const ownMetric = (name: string, statistic: "Maximum" | "Sum", dimensions: Record<string, string> = {}): Metric =>
  new Metric({
    namespace: METRICS_NAMESPACE,
    metricName: name,
    statistic,
    period: Duration.minutes(5),
    ...(Object.keys(dimensions).length > 0 && { dimensionsMap: dimensions }),
  });
