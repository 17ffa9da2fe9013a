import { Duration } from "aws-cdk-lib";
import type { Alarm } from "aws-cdk-lib/aws-cloudwatch";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { Alarms } from "./alarms.ts";
import type { ServiceFunction } from "./service-function.ts";

export interface QueueWorkerProps {
  readonly batchSize: number;
  /** At least six times the worker's time-out (Lambda's SQS guide). */
  readonly visibilityTimeoutS: number;
  readonly receivesMax: number;
}

const RETENTION = Duration.days(14);

/** A queue, its dead letters and its alarms: never one without the others. Its worker is attached once it exists. */
export class QueueWorker extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  private readonly props: QueueWorkerProps;

  constructor(scope: Construct, id: string, props: QueueWorkerProps) {
    super(scope, id);
    this.props = props;
    this.deadLetters = new Queue(this, "DeadLetters", {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: RETENTION,
    });
    this.queue = new Queue(this, "Queue", {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: RETENTION,
      visibilityTimeout: Duration.seconds(props.visibilityTimeoutS),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: props.receivesMax },
    });
  }

  /** `impact`: what a customer loses while messages lie in the dead letters; it becomes the alarm's text. */
  readBy(worker: ServiceFunction, alarms: Alarms, impact: string): Alarm {
    worker.addEventSource(
      new SqsEventSource(this.queue, { batchSize: this.props.batchSize, reportBatchItemFailures: true }),
    );
    return alarms.whenAbove(`${this.node.id}DeadLetters`, {
      metric: this.deadLetters.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(1), statistic: "Maximum" }),
      threshold: 0,
      impact,
    });
  }
}
