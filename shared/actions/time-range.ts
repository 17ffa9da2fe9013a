import { timeRange } from "../ledger/list-transactions.ts";
import type { TimeRange } from "../ledger/query-index.ts";
import { OperatorError } from "../platform/operator-error.ts";

/** The range of a list. */
export const requireTimeRange = (period: Parameters<typeof timeRange>[0]): TimeRange => {
  const range = timeRange(period);
  if (range === undefined) throw new OperatorError("The period ends before it begins");
  return range;
};
