import { randomUUID } from "node:crypto";
import { errorFields } from "../../shared/platform/log.ts";
import { sleep } from "../../shared/platform/time.ts";
import { SCHEDULE_MS } from "../../shared/platform/time-budgets.ts";
import { ACCOUNT_ID, REGION } from "./local-aws.ts";
import { localLog } from "./local-log.ts";

/** The most that a start waits for the first run: an upstream that hangs, or orders that are queued, cannot block it. */
const FIRST_RUN_MS_MAX = 10_000;

/**
 * Invokes a function now and at every interval with EventBridge's event. Skips the tick if the previous run has not
 * finished.
 */
export const startSchedule = async (
  functionName: string,
  invoke: (functionName: string, event: unknown) => Promise<unknown>,
  intervalMs: number = SCHEDULE_MS,
) => {
  let isRunning = false;
  const run = async (): Promise<boolean> => {
    if (isRunning) return false;
    isRunning = true;
    try {
      await invoke(functionName, scheduledEvent(functionName));
      return true;
    } catch (error) {
      localLog.error("invocation.failed", { function: functionName, ...errorFields(error) });
      return false;
    } finally {
      isRunning = false;
    }
  };

  /** True if the first run succeeded; false if it failed or has not finished. */
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
