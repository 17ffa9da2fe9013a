import type { ActionTable } from "./action.ts";

/** An account's API keys. */
export const keysActions = {} as const satisfies ActionTable;
