import type { ActionTable } from "./action.ts";

/** Counts by hour and balances by day. */
export const statisticsActions = {} as const satisfies ActionTable;
