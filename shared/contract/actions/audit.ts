import type { ActionTable } from "./action.ts";

/** The audit log. */
export const auditActions = {} as const satisfies ActionTable;
