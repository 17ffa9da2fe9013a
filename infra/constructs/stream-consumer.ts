import { Duration } from "aws-cdk-lib";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import {
  EventSourceMapping,
  type EventSourceMappingProps,
  FilterCriteria,
  MetricType,
  StartingPosition,
} from "aws-cdk-lib/aws-lambda";
import { SqsDlq } from "aws-cdk-lib/aws-lambda-event-sources";
import { Construct } from "constructs";
import { MINUTE_MS } from "../../shared/contract/values/durations.ts";
import type { Urgency } from "../../shared/platform/log-catalog.ts";
import { streamDeadLetters } from "../../shared/platform/queue-names.ts";
import type { StreamConsumerSpec } from "../streams.ts";
import type { Alarms } from "./alarms.ts";
import { DeadLetters } from "./queue-consumer.ts";
import { NOT_BY_CODE, type ServiceFunction } from "./service-function.ts";

export interface StreamConsumerProps {
  readonly stage: string;
  readonly table: ITable;
  readonly consumer: ServiceFunction;
  readonly alarms: Alarms;
  readonly spec: StreamConsumerSpec;
}

/** Explicit, because CloudFormation keeps an earlier limit if the property is absent. */
const UNLIMITED = -1;
/** DynamoDB keeps changes for 24 hours; this is early enough for an operator to act. */
const BEHIND_MS_MAX = 5 * MINUTE_MS;

/** A function that consumes a table's stream. If it keeps failures: with dead letters, and an alarm if it is behind. */
export class StreamConsumer extends Construct {
  constructor(scope: Construct, id: string, props: StreamConsumerProps) {
    super(scope, id);
    const { consumer, spec, table } = props;
    const { tableStreamArn } = table;
    if (tableStreamArn === undefined) throw new Error(`The table of ${id} has no stream`);
    const keeping = spec.keepsFailures ? this.keepFailures(props) : undefined;
    const actions = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"];
    // A stream has every change of its table: the function's code gets those alone that the patterns let through.
    consumer.allow(actions, [tableStreamArn], NOT_BY_CODE);
    // Lambda calls this action without a stream.
    consumer.allow(["dynamodb:ListStreams"], ["*"], NOT_BY_CODE);
    const mapping = new EventSourceMapping(this, "Mapping", {
      target: consumer,
      eventSourceArn: tableStreamArn,
      startingPosition: StartingPosition[spec.startingPosition],
      batchSize: spec.batchSize,
      ...(spec.windowS > 0 && { maxBatchingWindow: Duration.seconds(spec.windowS) }),
      maxRecordAge: Duration.seconds(spec.recordAgeMaxS),
      retryAttempts: UNLIMITED,
      filters: spec.patterns.map((pattern) => FilterCriteria.filter(pattern)),
      ...(spec.silence && { metricsConfig: { metrics: [MetricType.EVENT_COUNT] } }),
      ...keeping,
    });
    // Creating the mapping reads the stream once: the role must exist by then.
    if (consumer.role) mapping.node.addDependency(consumer.role);
    if (spec.keepsFailures) this.addAgeAlarm(props);
    if (spec.silence) this.addSilenceAlarm(props, spec.silence, mapping);
  }

  private keepFailures({ stage, consumer, alarms }: StreamConsumerProps): Partial<EventSourceMappingProps> {
    const deadLetters = new DeadLetters(this, "DeadLetters", {
      queueName: streamDeadLetters(stage),
      alarms,
      impact: `${consumer.spec.impact} A dead letter names a range of the stream that was given up: admin announce sends its webhooks again.`,
      urgency: "ticket",
    });
    return {
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      onFailure: new SqsDlq(deadLetters),
    };
  }

  private addAgeAlarm({ consumer, alarms }: StreamConsumerProps): void {
    alarms.addThresholdAlarm(`${this.node.id}StreamBehind`, {
      metric: consumer.functionMetric("IteratorAge", "Maximum"),
      threshold: BEHIND_MS_MAX,
      repeated: true,
      urgency: "page",
      impact: `${consumer.spec.impact} The ledger's stream is more than 5 minutes behind: read the log of enqueue-webhooks.`,
    });
  }

  /**
   * The stream's age is measured by invocations only, and so are errors: without polls there are none, whatever waits. A mapping
   * that polls an empty stream counts 0 events. Source: AWS, "Types of metrics for Lambda functions", event source mappings.
   */
  private addSilenceAlarm(
    { consumer, alarms, spec }: StreamConsumerProps,
    urgency: Urgency,
    mapping: EventSourceMapping,
  ): void {
    alarms.addSilenceAlarm(`${this.node.id}StreamSilent`, {
      metric: new Metric({
        namespace: "AWS/Lambda",
        metricName: "PolledEventCount",
        statistic: "Sum",
        dimensionsMap: { EventSourceMappingUUID: mapping.eventSourceMappingId },
        period: Duration.minutes(5),
      }),
      periods: 3,
      urgency,
      impact: `${consumer.spec.impact} The stream of the ${spec.table} table has not been polled for 15 minutes: check the mapping of ${spec.consumer}, its State and LastProcessingResult.`,
    });
  }
}
