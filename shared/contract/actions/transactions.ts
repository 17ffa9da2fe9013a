import type { ActionTable } from "./action.ts";

/** Transactions and their resolution. */
export const transactionsActions = {} as const satisfies ActionTable;
