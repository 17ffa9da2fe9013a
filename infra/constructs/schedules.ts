import { Duration } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { Construct } from "constructs";
import type { IdleRun } from "../../functions/function-spec.ts";
import { scheduleDeadLetters } from "../../shared/platform/queue-names.ts";
import { SCHEDULE_MS } from "../../shared/platform/time-budgets.ts";
import { scheduledFunctions, scheduleOf } from "../schedules.ts";
import type { Alarms } from "./alarms.ts";
import { DeadLetters } from "./queue-consumer.ts";
import type { ServiceFunctions } from "./service-functions.ts";

export interface SchedulesProps {
  readonly stage: string;
  readonly alarms: Alarms;
  readonly functions: ServiceFunctions;
  /** Whether those run that change the ledger. */
  readonly isWorking: boolean;
}

/** Invokes functions each minute, and alarms when one is not invoked. */
export class Schedules extends Construct {
  constructor(scope: Construct, id: string, { stage, alarms, functions, isWorking }: SchedulesProps) {
    super(scope, id);
    const deadLetters = new DeadLetters(this, "DeadLetters", {
      queueName: scheduleDeadLetters(stage),
      alarms,
      impact:
        "Catalogs may become stale, abandoned checks stay unrefunded and webhooks wait: a scheduled function could not be invoked. Purge the queue once it is invoked again.",
      urgency: "ticket",
    });
    for (const each of scheduledFunctions.filter((name) => functions.all.has(name))) {
      const target = functions.named(each);
      const { urgency, isWorker, idleRun } = scheduleOf(each);
      const { metric }: IdleRun = idleRun;
      const name = target.node.id;
      // The next minute is the retry.
      target.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.millis(SCHEDULE_MS) });
      new Rule(this, name, {
        description: `Invokes ${name} each minute`,
        schedule: Schedule.rate(Duration.millis(SCHEDULE_MS)),
        enabled: isWorking || !isWorker,
        targets: [
          new LambdaFunction(target, {
            deadLetterQueue: deadLetters,
            retryAttempts: 2,
            maxEventAge: Duration.millis(SCHEDULE_MS),
          }),
        ],
      });
      const silence =
        metric === undefined
          ? {
              metric: target.functionMetric("Invocations", "Sum"),
              text: "was not invoked for 15 minutes: check its rule in EventBridge.",
            }
          : {
              metric: alarms.stageMetric(metric, "Maximum"),
              text: "was not invoked, or each run failed, for 15 minutes: check its rule in EventBridge, and read its log.",
            };
      alarms.addSilenceAlarm(`${name}Silent`, {
        metric: silence.metric,
        periods: 3,
        urgency,
        impact: `${target.spec.impact} ${name} ${silence.text}`,
      });
    }
  }
}
