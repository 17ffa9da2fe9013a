import { log } from "../platform/log.ts";
import type { Kobo } from "../platform/money.ts";
import type { Transaction } from "./transaction.ts";

/**
 * Alerts where the upstream charged another amount for a live transaction than its account paid: more costs us money, and less
 * means that our price is wrong.
 */
export const alertIfAmountDiffers = (
  { pk, mode, amount_kobo }: Pick<Transaction, "pk" | "mode" | "amount_kobo">,
  upstreamAmountKobo: Kobo,
): void => {
  if (mode !== "live" || upstreamAmountKobo === amount_kobo) return;
  log.alarm("transaction.amount_differs", { transaction: pk, ours: amount_kobo, theirs: upstreamAmountKobo });
};
