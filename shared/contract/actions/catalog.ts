import type { ActionTable } from "./action.ts";

/** The catalog. */
export const catalogActions = {} as const satisfies ActionTable;
