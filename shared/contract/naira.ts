import * as z from "zod";

/** Largest distance from a whole kobo that counts as floating-point noise: `54.019999999999996` is 54.02 NGN. */
const NOISE_KOBO_MAX = 1e-6;

/**
 * NGN as whole kobo; undefined if it is not a whole number of kobo (docs/interface.md 4.D6). Above about 86,000,000 NGN
 * neighbouring doubles are further apart than the noise that is allowed, so only the double nearest to a whole kobo is
 * accepted.
 */
export const wholeKobo = (naira: number): number | undefined => {
  const kobo = Math.round(naira * 100);
  const isWhole = kobo / 100 === naira || Math.abs(naira * 100 - kobo) <= NOISE_KOBO_MAX;
  return isWhole && Number.isSafeInteger(kobo) ? kobo : undefined;
};

/** An amount of NGN in a request, rounded to whole kobo. Bounds that are added to it apply to the rounded amount. */
export const nairaField = z
  .number("Must be a number")
  .refine((naira) => Number.isSafeInteger(Math.round(naira * 100)), { error: "Is too large", abort: true })
  .refine((naira) => wholeKobo(naira) !== undefined, { error: "Must have at most 2 decimals", abort: true })
  .overwrite((naira) => Math.round(naira * 100) / 100);
