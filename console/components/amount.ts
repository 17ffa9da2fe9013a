import { wholeKobo } from "../../shared/contract/naira.ts";

/** A typed amount of NGN, such as `1,250.50` or `-500`, in kobo; NaN if it is none, which every action refuses. */
export const koboOf = (text: string): number => {
  const digits = text.trim().replaceAll(",", "");
  return /^[+-]?\d{1,10}(\.\d{1,2})?$/.test(digits) ? (wholeKobo(Number(digits)) ?? Number.NaN) : Number.NaN;
};
