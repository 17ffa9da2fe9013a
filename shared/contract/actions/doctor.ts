import type { ActionTable } from "./action.ts";

/** Checks of the whole service. */
export const doctorActions = {} as const satisfies ActionTable;
