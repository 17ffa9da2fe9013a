import { timeRange } from "../ledger/list-transactions.ts";
import type { TimeRange } from "../ledger/query-index.ts";
import { OperatorError } from "../platform/operator-error.ts";
import type { ActionContext } from "./action-context.ts";

/** The range of a list, whose dates are days in the stage's time zone. */
export const requireTimeRange = (
  { timeZone }: Pick<ActionContext, "timeZone">,
  period: Parameters<typeof timeRange>[0],
): TimeRange => {
  const range = timeRange(period, timeZone);
  if (range === undefined) throw new OperatorError("The period ends before it begins");
  return range;
};
