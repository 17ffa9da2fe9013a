import type { ActionTable } from "./action.ts";

/** Consent records of identity checks. */
export const consentsActions = {} as const satisfies ActionTable;
