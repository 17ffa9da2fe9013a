import type { ActionTable } from "./action.ts";

/** The upstream's events. */
export const upstreamEventsActions = {} as const satisfies ActionTable;
