import type { Context } from "aws-lambda";
import type { Deadline } from "../platform/deadline.ts";
import { type LogFields, log } from "../platform/log.ts";

/** The handler of a function that a schedule calls. The fields that `run` resolves with are logged in one line. */
export const scheduleHandler =
  (name: string, run: (deadline: Deadline) => Promise<LogFields>) =>
  async (_event: unknown, context: Context): Promise<void> => {
    log.info(`${name}.ran`, await run({ remainingMs: () => context.getRemainingTimeInMillis() }));
  };
