import { Duration, Stack } from "aws-cdk-lib";
import {
  Alarm,
  type AlarmBase,
  AlarmRule,
  AlarmState,
  ComparisonOperator,
  CompositeAlarm,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct } from "constructs";
import { METRICS_NAMESPACE } from "../../shared/platform/log.ts";
import type { Urgency } from "../../shared/platform/log-catalog.ts";

export interface AlarmsProps {
  readonly stage: string;
  /** Who gets the alarms of each urgency; absent in a stage that need not have an address. */
  readonly emails: Readonly<Record<Urgency, string | undefined>>;
}

interface AlarmProps {
  /** The alarm's text: what a customer loses, then what to do. */
  readonly impact: string;
  readonly urgency: Urgency;
}

export interface SilenceAlarmProps extends AlarmProps {
  readonly metric: Metric;
  /** After how many periods without a data point it is raised. */
  readonly periods: number;
}

interface Repeated {
  /**
   * Only if the metric exceeds the threshold in 3 of the last 12 periods, which last 5 minutes, because what ends by itself
   * within some minutes needs no action. `hours`: in this number of the last 24, which last an hour.
   */
  readonly repeated?: true | { readonly hours: number } | undefined;
}

export interface ThresholdAlarmProps extends AlarmProps, Repeated {
  readonly metric: IMetric;
  readonly threshold: number;
}

export interface SalesAlarmProps extends Pick<AlarmProps, "impact">, Repeated {
  readonly metric: IMetric;
  /** 0 by default. */
  readonly threshold?: number;
}

/** Every alarm of a stage, and the topics that they notify. */
export class Alarms extends Construct {
  /** Alarms that notify a person, by themselves or as a part of another one. */
  readonly all: AlarmBase[] = [];
  readonly topics: Readonly<Record<Urgency, Topic>>;
  readonly stage: string;
  private readonly stoppedSales: Alarm[] = [];

  constructor(scope: Construct, id: string, { stage, emails }: AlarmsProps) {
    super(scope, id);
    this.stage = stage;
    this.topics = {
      page: alarmTopic(this, "Topic", `Alarms of ${stage}`, emails.page),
      ticket: alarmTopic(this, "Tickets", `Tickets of ${stage}`, emails.ticket),
    };
  }

  /** Alarms when the metric exceeds the threshold. Missing data does not alarm. */
  addThresholdAlarm(id: string, props: ThresholdAlarmProps): void {
    this.notifyOf(this.addAlarm(id, props.impact, above(props)), props);
  }

  /** Alarms when the metric is below the threshold. Missing data does not alarm, or with `keepsState` changes nothing. */
  addFloorAlarm(id: string, props: Omit<ThresholdAlarmProps, "repeated"> & { readonly keepsState?: true }): void {
    const condition = {
      ...above(props),
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      ...(props.keepsState && { treatMissingData: TreatMissingData.IGNORE }),
    };
    this.notifyOf(this.addAlarm(id, props.impact, condition), props);
  }

  /** Alarms when the metric exceeds the threshold: then nothing is sold. It notifies by the alarm `SellsNothing`. */
  addSalesAlarm(id: string, props: SalesAlarmProps): void {
    this.stoppedSales.push(this.addAlarm(id, props.impact, above({ threshold: 0, ...props })));
  }

  /** One notification of all that stops sales; to be called once they have been added. */
  addSellsNothing(): void {
    const alarmDescription =
      "Nothing is sold: callers get errors, or their orders are refunded. Its parts are the alarms that say why; find those that are raised in CloudWatch.";
    const states = this.stoppedSales.map((alarm) => AlarmRule.fromAlarm(alarm, AlarmState.ALARM));
    const composite = new CompositeAlarm(this, "SellsNothing", {
      alarmDescription,
      alarmRule: AlarmRule.anyOf(...states),
    });
    this.all.push(composite);
    this.notifyOf(composite, { urgency: "page" });
  }

  /**
   * Alarms when the metric had no data point for `periods` periods. They are filled with -1, because CloudWatch reads
   * more periods than it evaluates: one data point in an older period would delay the alarm until it is out of reach,
   * although missing data is a breach. The alarm of a new function is raised until its first data points have come.
   * Source: AWS, "Configuring how CloudWatch alarms treat missing data".
   */
  addSilenceAlarm(id: string, { metric, periods, ...props }: SilenceAlarmProps): void {
    const alarm = this.addAlarm(id, props.impact, {
      metric: filled(metric, -1),
      threshold: 0,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.BREACHING,
      evaluationPeriods: periods,
    });
    this.notifyOf(alarm, props);
  }

  /** A metric of this stage that the functions write to their logs (shared/platform/log.ts). */
  stageMetric(
    name: string,
    statistic: "Maximum" | "Minimum" | "Sum",
    dimensions: Readonly<Record<string, string>> = {},
  ): Metric {
    return new Metric({
      namespace: METRICS_NAMESPACE,
      metricName: name,
      statistic,
      period: Duration.minutes(5),
      dimensionsMap: { Stage: this.stage, ...dimensions },
    });
  }

  private addAlarm(id: string, impact: string, condition: Condition): Alarm {
    const alarm = new Alarm(this, id, { evaluationPeriods: 1, ...condition, alarmDescription: impact });
    this.all.push(alarm);
    return alarm;
  }

  /** Those who were notified learn that it is over. */
  private notifyOf(alarm: AlarmBase, { urgency }: Pick<AlarmProps, "urgency">): void {
    const action = new SnsAction(this.topics[urgency]);
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
  }
}

type Condition = {
  readonly metric: IMetric;
  readonly threshold: number;
  readonly comparisonOperator: ComparisonOperator;
  readonly treatMissingData: TreatMissingData;
  readonly evaluationPeriods?: number;
  readonly datapointsToAlarm?: number;
};

const repetition = ({ repeated }: Repeated) =>
  repeated &&
  (repeated === true
    ? { evaluationPeriods: 12, datapointsToAlarm: 3 }
    : { evaluationPeriods: 24, datapointsToAlarm: repeated.hours });

/** When the metric exceeds the threshold. Missing data does not alarm. */
export const above = ({ metric, threshold, ...rest }: Omit<ThresholdAlarmProps, keyof AlarmProps>): Condition => ({
  metric,
  threshold,
  comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
  treatMissingData: TreatMissingData.NOT_BREACHING,
  ...repetition(rest),
});

/** The metric with a value in each period. Source: AWS, "Using math expressions with CloudWatch metrics", FILL. */
export const filled = (metric: Metric, value: number): IMetric =>
  new MathExpression({ expression: `FILL(m, ${value})`, usingMetrics: { m: metric }, period: metric.period });

const alarmTopic = (scope: Construct, id: string, displayName: string, email: string | undefined): Topic => {
  const topic = new Topic(scope, id, { displayName, enforceSSL: true });
  // An explicit policy replaces the default policy, which would let CloudWatch publish.
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal("cloudwatch.amazonaws.com")],
      actions: ["sns:Publish"],
      resources: [topic.topicArn],
      conditions: { StringEquals: { "aws:SourceAccount": Stack.of(scope).account } },
    }),
  );
  if (email !== undefined) topic.addSubscription(new EmailSubscription(email));
  return topic;
};
