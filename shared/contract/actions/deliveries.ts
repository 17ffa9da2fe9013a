import type { ActionTable } from "./action.ts";

/** Webhook deliveries. */
export const deliveriesActions = {} as const satisfies ActionTable;
