import type { Mode } from "./transaction.ts";

/** Whether another person must approve that an order is settled by hand; the amount is the stage's `resolveAboveNaira`. */
export const isSettledByTwo = (
  { mode, naira }: { readonly mode: Mode; readonly naira: number },
  aboveNaira: number,
): boolean => mode === "live" && naira > aboveNaira;
