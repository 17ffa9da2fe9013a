import { Duration } from "aws-cdk-lib";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { acknowledge } from "./acknowledge.ts";
import type { Alarms } from "./alarms.ts";
import type { ServiceFunction } from "./service-function.ts";

const RETENTION = Duration.days(14);

export interface DeadLettersProps {
  readonly queueName: string;
  readonly alarms: Alarms;
  /** The alarm's text: what a customer loses, then what to do. */
  readonly impact: string;
}

/** A dead-letter queue with an alarm on any message. */
export class DeadLetters extends Queue {
  constructor(scope: Construct, id: string, { queueName, alarms, impact }: DeadLettersProps) {
    super(scope, id, {
      queueName,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: RETENTION,
    });
    acknowledge(this, "SQS3", "This is the dead-letter queue, and it has an alarm");
    const metric = this.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(1), statistic: "Maximum" });
    alarms.addThresholdAlarm(`${scope.node.id}${id}`, { metric, threshold: 0, impact });
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
  readonly impact: string;
}

/** A queue with its dead letters and their alarm. The consuming function is added once it exists. */
export class QueueConsumer extends Construct {
  readonly queue: Queue;
  readonly deadLetters: DeadLetters;
  private readonly batchSize: number;
  private readonly concurrencyMax: number;

  constructor(scope: Construct, id: string, props: QueueConsumerProps) {
    super(scope, id);
    const { queueName, alarms, impact } = props;
    this.batchSize = props.batchSize;
    this.concurrencyMax = props.concurrencyMax;
    this.deadLetters = new DeadLetters(this, "DeadLetters", {
      // The admin commands find it by this name.
      queueName: `${queueName}-dead-letters`,
      alarms,
      impact,
    });
    this.queue = new Queue(this, "Queue", {
      queueName,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: RETENTION,
      visibilityTimeout: Duration.seconds(props.visibilityTimeoutS),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: props.receivesMax },
    });
  }

  /** Messages fail one by one: a bad message does not hold back its batch. */
  addConsumer(consumer: ServiceFunction, enabled: boolean): void {
    const { batchSize, concurrencyMax: maxConcurrency } = this;
    consumer.addEventSource(
      new SqsEventSource(this.queue, { batchSize, maxConcurrency, reportBatchItemFailures: true, enabled }),
    );
  }
}
