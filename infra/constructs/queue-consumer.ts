import { Duration, Names } from "aws-cdk-lib";
import { EventSourceMapping } from "aws-cdk-lib/aws-lambda";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { Urgency } from "../../shared/platform/log-catalog.ts";
import { deadLettersOf } from "../../shared/platform/queue-names.ts";
import { acknowledge } from "./acknowledge.ts";
import type { Alarms } from "./alarms.ts";
import { NOT_BY_CODE, type ServiceFunction } from "./service-function.ts";

const RETENTION = Duration.days(14);

/**
 * AWS leaves messages that were received more than three times out of a queue's age, so that webhooks between two
 * attempts do not count: the fourth attempt is 6 minutes after the first. Source: AWS, "Available CloudWatch metrics
 * for Amazon SQS".
 */
const AGE_S_MAX = 15 * 60;
/** The consumer of either queue handles this many in less than a minute. */
const DEPTH_MAX = 1_000;
/** Half of what AWS allows: beyond 120,000 it delivers nothing. Source: AWS, "Amazon SQS message quotas". */
const IN_FLIGHT_MAX = 60_000;

export interface DeadLettersProps {
  readonly queueName: string;
  readonly alarms: Alarms;
  /** The alarm's text: what a customer loses, then what to do. */
  readonly impact: string;
  readonly urgency: Urgency;
}

/** A dead-letter queue with an alarm on any message. */
export class DeadLetters extends Queue {
  constructor(scope: Construct, id: string, { queueName, alarms, impact, urgency }: DeadLettersProps) {
    super(scope, id, {
      queueName,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: RETENTION,
    });
    acknowledge(this, "SQS3", "This is the dead-letter queue, and it has an alarm");
    const metric = this.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(1), statistic: "Maximum" });
    alarms.addThresholdAlarm(`${scope.node.id}${id}`, { metric, threshold: 0, impact, urgency });
  }
}

export interface QueueConsumerProps {
  readonly queueName: string;
  readonly batchSize: number;
  /** At least six times the consumer's time-out (Lambda's SQS guide). */
  readonly visibilityTimeoutS: number;
  readonly receivesMax: number;
  /** Concurrent invocations of the consumer. */
  readonly concurrencyMax: number;
  readonly alarms: Alarms;
  /** What a customer loses by a dead letter, then what to do. */
  readonly impact: string;
  /** What a customer loses while messages wait. */
  readonly delayImpact: string;
  /** The urgency of the alarms on dead letters and on messages that wait for 15 minutes. */
  readonly urgency: Urgency;
}

/** A queue with its dead letters and their alarm. The consuming function is added once it exists. */
export class QueueConsumer extends Construct {
  readonly queue: Queue;
  readonly deadLetters: DeadLetters;
  private readonly batchSize: number;
  private readonly concurrencyMax: number;

  constructor(scope: Construct, id: string, props: QueueConsumerProps) {
    super(scope, id);
    const { queueName, alarms, impact, urgency } = props;
    this.batchSize = props.batchSize;
    this.concurrencyMax = props.concurrencyMax;
    this.deadLetters = new DeadLetters(this, "DeadLetters", {
      queueName: deadLettersOf(queueName),
      alarms,
      impact,
      urgency,
    });
    this.queue = new Queue(this, "Queue", {
      queueName,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: RETENTION,
      visibilityTimeout: Duration.seconds(props.visibilityTimeoutS),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: props.receivesMax },
    });
    this.addAlarms(props);
  }

  /** Messages fail one by one: a bad message does not hold back its batch. */
  addConsumer(consumer: ServiceFunction, enabled: boolean): void {
    const { batchSize, concurrencyMax: maxConcurrency } = this;
    // The id of CDK's SqsEventSource, below the function even if an alias is invoked: CloudFormation then changes the
    // mapping in place.
    new EventSourceMapping(consumer, `SqsEventSource:${Names.nodeUniqueId(this.queue.node)}`, {
      target: consumer.invoked,
      eventSourceArn: this.queue.queueArn,
      batchSize,
      maxConcurrency,
      reportBatchItemFailures: true,
      enabled,
    });
    const { queueArn } = this.queue;
    // The function's code gets messages from Lambda alone: it can neither take others nor delete one.
    consumer.allow(["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"], [queueArn], NOT_BY_CODE);
    consumer.allow(["sqs:ChangeMessageVisibility"], [queueArn]);
  }

  /** `DeliveryAge`, `OutcomesDepth` and the others: a consumer that is stopped, refused or too slow raises them. */
  private addAlarms({ alarms, delayImpact, urgency }: QueueConsumerProps): void {
    const { id } = this.node;
    const period = Duration.minutes(5);
    alarms.addThresholdAlarm(`${id}Age`, {
      metric: this.queue.metricApproximateAgeOfOldestMessage({ period, statistic: "Maximum" }),
      threshold: AGE_S_MAX,
      urgency,
      impact: `${delayImpact} A message has waited for 15 minutes: check the consumer's mapping, throttles and log.`,
    });
    alarms.addThresholdAlarm(`${id}Depth`, {
      metric: this.queue.metricApproximateNumberOfMessagesVisible({ period, statistic: "Minimum" }),
      threshold: DEPTH_MAX,
      urgency: "ticket",
      impact: `${delayImpact} More than 1,000 messages have waited for 5 minutes: raise maxConcurrency if the quota allows.`,
    });
    alarms.addThresholdAlarm(`${id}InFlight`, {
      metric: this.queue.metricApproximateNumberOfMessagesNotVisible({ period, statistic: "Maximum" }),
      threshold: IN_FLIGHT_MAX,
      urgency: "ticket",
      impact: `${delayImpact} More than 60,000 messages are in flight, and AWS delivers none beyond 120,000: read the consumer's log.`,
    });
  }
}
