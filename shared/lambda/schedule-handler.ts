import type { Context } from "aws-lambda";
import type { Deadline } from "../platform/deadline.ts";
import { type LogEvent, type LogFields, log, loggableError } from "../platform/log.ts";

type RunEvent = Extract<LogEvent<"info">, `${string}.ran`>;

/** The handler of a function that a schedule invokes. What `run` resolves with becomes the run's one log line. */
export const scheduleHandler =
  <Event extends RunEvent>(event: Event, run: (deadline: Deadline) => Promise<LogFields<Event>>) =>
  async (_input: unknown, context: Context): Promise<void> => {
    try {
      log.info(event, await run({ remainingMs: () => context.getRemainingTimeInMillis() }));
    } catch (error) {
      throw loggableError(error);
    }
  };
