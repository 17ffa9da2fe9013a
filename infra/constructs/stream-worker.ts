import { Duration } from "aws-cdk-lib";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import { EventSourceMapping, FilterCriteria, StartingPosition } from "aws-cdk-lib/aws-lambda";
import { SqsDlq } from "aws-cdk-lib/aws-lambda-event-sources";
import { Construct } from "constructs";
import type { Alarms } from "./alarms.ts";
import { DeadLetters } from "./queue-worker.ts";
import type { ServiceFunction } from "./service-function.ts";

export interface StreamWorkerProps {
  readonly stage: string;
  readonly table: ITable;
  readonly worker: ServiceFunction;
  readonly alarms: Alarms;
  readonly batchSize: number;
  readonly recordAgeMaxS: number;
  readonly pattern: Record<string, unknown>;
}

/** Said explicitly: a limit that an earlier deployment set would otherwise stay. */
const UNLIMITED = -1;
/** DynamoDB keeps changes for 24 hours; later than this, somebody must look. */
const BEHIND_MS_MAX = 5 * 60_000;

/** A function that reads a table's stream, with a place for what it cannot handle and an alarm for when it falls behind. */
export class StreamWorker extends Construct {
  constructor(scope: Construct, id: string, props: StreamWorkerProps) {
    super(scope, id);
    const { stage, table, worker, alarms, batchSize, recordAgeMaxS, pattern } = props;
    const { tableStreamArn } = table;
    if (tableStreamArn === undefined) throw new Error(`The table of ${id} has no stream`);
    const deadLetters = new DeadLetters(this, "DeadLetters", {
      queueName: `${stage}-airtime-${id.toLowerCase()}-stream-dead-letters`,
      alarms,
      impact: `${worker.spec.lost} A dead letter names a range of the stream that was given up: admin announce repeats it.`,
    });
    worker.allow(["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"], [tableStreamArn]);
    // Lambda asks for this one without naming a stream.
    worker.allow(["dynamodb:ListStreams"], ["*"]);
    const mapping = new EventSourceMapping(this, "Mapping", {
      target: worker,
      eventSourceArn: tableStreamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize,
      maxRecordAge: Duration.seconds(recordAgeMaxS),
      retryAttempts: UNLIMITED,
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      filters: [FilterCriteria.filter(pattern)],
      onFailure: new SqsDlq(deadLetters),
    });
    // Lambda reads the stream once as it makes the mapping: the role must be allowed to by then.
    if (worker.role) mapping.node.addDependency(worker.role);
    alarms.whenAbove(`${id}StreamBehind`, {
      metric: worker.figure("IteratorAge", "Maximum").with({ period: Duration.minutes(1) }),
      threshold: BEHIND_MS_MAX,
      impact: `The ledger's stream is read more than 5 minutes late. ${worker.spec.lost}`,
    });
  }
}
