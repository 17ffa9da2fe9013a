import type { Mode } from "./transaction.ts";

/** Whether it takes two people to settle an order by hand, in a stage where they share that above an amount. */
export const isSettledByTwo = (
  { mode, naira }: { readonly mode: Mode; readonly naira: number },
  aboveNaira: number,
): boolean => mode === "live" && naira > aboveNaira;
