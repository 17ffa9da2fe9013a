import { Duration, Names } from "aws-cdk-lib";
import { EventSourceMapping } from "aws-cdk-lib/aws-lambda";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { QueueName } from "../../functions/function-spec.ts";
import type { Urgency } from "../../shared/platform/log-catalog.ts";
import { deadLettersOf } from "../../shared/platform/queue-names.ts";
import { specOf } from "../functions.ts";
import { pascalCase } from "../outputs.ts";
import { type QueueSpec, queues } from "../queues.ts";
import type { StageSettings } from "../stage-settings.ts";
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
  readonly stage: string;
  readonly settings: Pick<StageSettings, "maxConcurrency">;
  readonly alarms: Alarms;
}

/** A queue with its dead letters and their alarm. The consuming function is added once it exists. */
export class QueueConsumer extends Construct {
  readonly queue: Queue;
  readonly deadLetters: DeadLetters;
  readonly spec: QueueSpec;
  private readonly maxConcurrency: number;

  constructor(scope: Construct, name: QueueName, { stage, settings, alarms }: QueueConsumerProps) {
    super(scope, pascalCase(name));
    this.spec = queues[name];
    this.maxConcurrency = settings.maxConcurrency[name];
    const { consumer, lostImpact, urgency, visibilityTimeoutS, receivesMax } = this.spec;
    const queueName = `${stage}-airtime-${name}`;
    this.deadLetters = new DeadLetters(this, "DeadLetters", {
      queueName: deadLettersOf(queueName),
      alarms,
      impact: `${lostImpact} Read the log of ${consumer}, fix the cause, redrive the queue.`,
      urgency,
    });
    this.queue = new Queue(this, "Queue", {
      queueName,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: RETENTION,
      visibilityTimeout: Duration.seconds(visibilityTimeoutS),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: receivesMax },
    });
    this.addAlarms(alarms);
  }

  /** Messages fail one by one: a bad message does not hold back its batch. */
  addConsumer(consumer: ServiceFunction, enabled: boolean): void {
    // The id of CDK's SqsEventSource, below the function even if an alias is invoked: CloudFormation then changes the
    // mapping in place.
    new EventSourceMapping(consumer, `SqsEventSource:${Names.nodeUniqueId(this.queue.node)}`, {
      target: consumer.invoked,
      eventSourceArn: this.queue.queueArn,
      batchSize: this.spec.batchSize,
      maxConcurrency: this.maxConcurrency,
      reportBatchItemFailures: true,
      enabled,
    });
    const { queueArn } = this.queue;
    // The function's code gets messages from Lambda alone: it can neither take others nor delete one.
    consumer.allow(["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"], [queueArn], NOT_BY_CODE);
    consumer.allow(["sqs:ChangeMessageVisibility"], [queueArn]);
  }

  /** `DeliveryAge`, `OutcomesDepth` and the others: a consumer that is stopped, refused or too slow raises them. */
  private addAlarms(alarms: Alarms): void {
    const { id } = this.node;
    const { consumer, urgency } = this.spec;
    const delayImpact = specOf(consumer).impact;
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
