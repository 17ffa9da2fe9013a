import type { ActionTable } from "./action.ts";

/** An account's wallet. */
export const walletActions = {} as const satisfies ActionTable;
