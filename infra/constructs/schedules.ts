import { Duration } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { Construct } from "constructs";
import { SCHEDULE_MS } from "../../shared/platform/time-budgets.ts";
import type { Alarms } from "./alarms.ts";
import { DeadLetters } from "./queue-worker.ts";
import type { ServiceFunction } from "./service-function.ts";

export interface ClockProps {
  readonly stage: string;
  readonly alarms: Alarms;
  readonly calls: readonly { readonly called: ServiceFunction; readonly enabled: boolean }[];
}

/** Calls functions each minute, and rings when one was not called. */
export class Schedules extends Construct {
  constructor(scope: Construct, id: string, { stage, alarms, calls }: ClockProps) {
    super(scope, id);
    const deadLetters = new DeadLetters(this, "DeadLetters", {
      queueName: `${stage}-airtime-schedules-dead-letters`,
      alarms,
      impact: "A function that runs each minute could not be called. Purge the queue when it is called again.",
    });
    for (const { called, enabled } of calls) {
      const name = called.node.id;
      // The next minute is the next try.
      called.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.millis(SCHEDULE_MS) });
      new Rule(this, name, {
        description: `Calls ${name} each minute`,
        schedule: Schedule.rate(Duration.millis(SCHEDULE_MS)),
        enabled,
        targets: [
          new LambdaFunction(called, {
            deadLetterQueue: deadLetters,
            retryAttempts: 2,
            maxEventAge: Duration.millis(SCHEDULE_MS),
          }),
        ],
      });
      alarms.whenSilent(`${name}Silent`, {
        metric: called.figure("Invocations", "Sum").with({ period: Duration.minutes(15) }),
        impact: `It was not called for 15 minutes. ${called.spec.lost}`,
      });
    }
  }
}
