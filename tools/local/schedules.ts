import { randomUUID } from "node:crypto";
import { errorFields } from "../../shared/platform/log.ts";
import { sleep } from "../../shared/platform/time.ts";
import { SCHEDULE_MS } from "../../shared/platform/time-budgets.ts";
import type { Invoke } from "./functions.ts";
import { ACCOUNT_ID, REGION } from "./local-aws.ts";
import { localLog } from "./local-log.ts";

/** How long a start waits for the first run; an upstream that hangs must not hold everything up. */
const FIRST_RUN_MS_MAX = 5_000;

export type Schedule = {
  /** True once the first run is over and well; false if it failed or still goes on. */
  readonly firstRun: boolean;
  readonly stop: () => void;
};

/** Calls a function now and then at every interval with EventBridge's event. A run that is not over makes the next one fall out. */
export const startSchedule = async (
  functionName: string,
  invoke: Invoke,
  intervalMs: number = SCHEDULE_MS,
): Promise<Schedule> => {
  let running = false;
  const run = async (): Promise<boolean> => {
    if (running) return false;
    running = true;
    try {
      await invoke(functionName, scheduledEvent(functionName));
      return true;
    } catch (error) {
      localLog.error("invocation.failed", { function: functionName, ...errorFields(error) });
      return false;
    } finally {
      running = false;
    }
  };

  const firstRun = await Promise.race([run(), sleep(FIRST_RUN_MS_MAX).then(() => false)]);
  const timer = setInterval(() => void run(), intervalMs);
  return { firstRun, stop: () => clearInterval(timer) };
};

/** Source: AWS, "Amazon EventBridge scheduled events". */
const scheduledEvent = (rule: string) => ({
  version: "0",
  id: randomUUID(),
  "detail-type": "Scheduled Event",
  source: "aws.events",
  account: ACCOUNT_ID,
  time: `${new Date().toISOString().slice(0, 19)}Z`,
  region: REGION,
  resources: [`arn:aws:events:${REGION}:${ACCOUNT_ID}:rule/${rule}`],
  detail: {},
});
