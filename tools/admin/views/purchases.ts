import type { PurchasesState } from "../../../shared/orders/purchases-switch.ts";

export const purchasesView = ({ purchases, since, by, caller_arn, why }: PurchasesState) => ({
  purchases,
  since: since ?? null,
  by: by ?? null,
  caller_arn: caller_arn ?? null,
  why: why ?? null,
});

/** `purchases off since 2026-11-22T10:00:00.000Z by ada (ticket 97)`. */
export const purchasesText = ({ purchases, since, by, why }: PurchasesState): string =>
  [
    `purchases ${purchases}`,
    ...(since === undefined ? [] : [`since ${since} by ${by}`]),
    ...(why === undefined ? [] : [`(${why})`]),
  ].join(" ");
