import type { Schedule } from "../functions/function-spec.ts";
import { functionSpecs } from "../functions/specs.ts";
import { functionNames, type ScheduledFunction, specOf } from "./functions.ts";

/** Functions that are invoked each minute. */
export const scheduledFunctions: readonly ScheduledFunction[] = functionNames.filter(
  (name): name is ScheduledFunction => functionSpecs[name].invokedBy.kind === "schedule",
);

/** The schedules of every stage: independent of its upstream and of a console. */
export const commonSchedules: readonly ScheduledFunction[] = scheduledFunctions.filter(
  (name) => !specOf(name).asksUpstream && !specOf(name).needsConsole,
);

export const scheduleOf = (name: ScheduledFunction): Schedule => functionSpecs[name].invokedBy;
