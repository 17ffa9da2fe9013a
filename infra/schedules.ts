import type { Schedule } from "../functions/function-spec.ts";
import { functionSpecs } from "../functions/specs.ts";
import { functionNames, type ScheduledFunction } from "./functions.ts";

/** Functions that are invoked each minute. */
export const scheduledFunctions: readonly ScheduledFunction[] = functionNames.filter(
  (name): name is ScheduledFunction => functionSpecs[name].invokedBy.kind === "schedule",
);

export const scheduleOf = (name: ScheduledFunction): Schedule => functionSpecs[name].invokedBy;
