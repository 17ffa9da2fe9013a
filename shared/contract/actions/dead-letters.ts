import type { ActionTable } from "./action.ts";

/** Messages that were given up. */
export const deadLettersActions = {} as const satisfies ActionTable;
