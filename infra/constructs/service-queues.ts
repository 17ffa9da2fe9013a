import type { Stack } from "aws-cdk-lib";
import type { QueueName } from "../../functions/function-spec.ts";
import { specOf } from "../functions.ts";
import { pascalCase } from "../outputs.ts";
import { queues } from "../queues.ts";
import type { StageSettings } from "../stage-settings.ts";
import type { Alarms } from "./alarms.ts";
import { QueueConsumer } from "./queue-consumer.ts";

export interface ServiceQueuesProps {
  readonly stage: string;
  readonly settings: StageSettings;
  readonly alarms: Alarms;
}

/** The queues of a stage. The functions that read them are added once they exist. */
export const makeQueues = (
  stack: Stack,
  { stage, settings, alarms }: ServiceQueuesProps,
): Readonly<Record<QueueName, QueueConsumer>> => {
  const make = (name: QueueName): QueueConsumer => {
    const { consumer, lostImpact, ...queue } = queues[name];
    return new QueueConsumer(stack, pascalCase(name), {
      queueName: `${stage}-airtime-${name}`,
      alarms,
      impact: `${lostImpact} Read the log of ${consumer}, fix the cause, redrive the queue.`,
      delayImpact: specOf(consumer).impact,
      ...queue,
      concurrencyMax: settings.maxConcurrency[name],
    });
  };
  return { outcomes: make("outcomes"), delivery: make("delivery") };
};
