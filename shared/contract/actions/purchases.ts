import type { ActionTable } from "./action.ts";

/** The purchases switch. */
export const purchasesActions = {} as const satisfies ActionTable;
