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

/** An amount of NGN as people type it; the sign is optional. A comma stands between thousands and nowhere else. */
const TYPED = /^([+-]?)(\d{1,12}|[1-9]\d{0,2}(?:,\d{3}){1,3})(?:\.(\d{1,2}))?$/;
export const TYPED_NAIRA_RULE =
  "Must be an amount of NGN such as 5000 or 1,250.50: commas only between thousands, at most 2 digits after a point";

/** A typed amount such as `1,250.50` or `-500` in kobo. Undefined for another text: `500,00` could be 500 or 50,000. */
export const koboFromText = (text: string): number | undefined => {
  const [, sign, whole = "", decimals = ""] = TYPED.exec(text.trim()) ?? [];
  if (sign === undefined) return undefined;
  const kobo = Number(whole.replaceAll(",", "")) * 100 + Number(decimals.padEnd(2, "0"));
  return sign === "-" && kobo > 0 ? -kobo : kobo;
};
