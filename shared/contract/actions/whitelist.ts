import type { ActionTable } from "./action.ts";

/** An account's whitelist. */
export const whitelistActions = {} as const satisfies ActionTable;
