import type { ActionTable } from "./action.ts";

/** The upstream's health and limit. */
export const upstreamActions = {} as const satisfies ActionTable;
