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
  /** What a customer loses while messages lie here, and what to do: the alarm's text. */
  readonly impact: string;
}

/** A queue for what could not be handled; whatever lies in it rings. */
export class DeadLetters extends Queue {
  constructor(scope: Construct, id: string, { queueName, alarms, impact }: DeadLettersProps) {
    super(scope, id, {
      queueName,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: RETENTION,
    });
    acknowledge(this, "SQS3", "These are the dead letters; an alarm rings when there is one");
    const metric = this.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(1), statistic: "Maximum" });
    alarms.whenAbove(`${scope.node.id}${id}`, { metric, threshold: 0, impact });
  }
}

export interface QueueWorkerProps {
  readonly queueName: string;
  readonly batchSize: number;
  /** At least six times the worker's time-out (Lambda's SQS guide). */
  readonly visibilityTimeoutS: number;
  readonly receivesMax: number;
  readonly alarms: Alarms;
  readonly impact: string;
}

/** A queue, its dead letters and their alarm: never one without the others. Its worker is attached once it exists. */
export class QueueWorker extends Construct {
  readonly queue: Queue;
  readonly deadLetters: DeadLetters;
  private readonly batchSize: number;

  constructor(scope: Construct, id: string, props: QueueWorkerProps) {
    super(scope, id);
    const { queueName, alarms, impact } = props;
    this.batchSize = props.batchSize;
    this.deadLetters = new DeadLetters(this, "DeadLetters", {
      // The operator's commands find them by this name.
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

  /** Messages stand alone: a bad one does not hold back its batch. */
  readBy(worker: ServiceFunction, enabled: boolean): void {
    const { batchSize } = this;
    worker.addEventSource(new SqsEventSource(this.queue, { batchSize, reportBatchItemFailures: true, enabled }));
  }
}
