import middy from "@middy/core";
import type { Context } from "aws-lambda";
import type { Deadline } from "../platform/deadline.ts";
import { type LogFields, log } from "../platform/log.ts";

/** The handler of a function that a schedule calls; what it did becomes the run's one log line. */
export const scheduleHandler = (name: string, run: (deadline: Deadline) => Promise<LogFields>) =>
  middy<unknown, void>({ timeoutEarlyInMillis: 0 }).handler(
    async (_event: unknown, context: Context): Promise<void> => {
      log.info(`${name}.ran`, await run({ remainingMs: () => context.getRemainingTimeInMillis() }));
    },
  );
