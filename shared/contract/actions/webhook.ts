import type { ActionTable } from "./action.ts";

/** An account's webhook endpoint. */
export const webhookActions = {} as const satisfies ActionTable;
