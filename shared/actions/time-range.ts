import { decodeCursor, timeRange } from "../ledger/list-transactions.ts";
import type { IndexKey, TimeRange } from "../ledger/query-index.ts";
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

/** The place in a list of transactions that a cursor names, which is within the range of the list. */
export const requireCursor = (cursor: string, { from, to }: TimeRange): IndexKey => {
  const place = decodeCursor(cursor);
  if (place !== undefined && place.created_at >= from && place.created_at <= to) return place;
  throw new OperatorError("The cursor is not of this list");
};
