import * as z from "#zod";

/** Largest distance from a whole kobo that counts as floating-point noise: `54.019999999999996` is 54.02 NGN. */
const NOISE_KOBO_MAX = 1e-6;

/** NGN, of either sign, rounded to whole kobo. */
export const nearestKobo = (naira: number): number => Math.round(naira * 100);

/**
 * NGN as whole kobo; undefined if it is not a whole number of kobo (docs/interface.md 4.D6). Above about 86,000,000 NGN
 * neighbouring doubles are further apart than the noise that is allowed, so only the double nearest to a whole kobo is
 * accepted.
 */
export const wholeKobo = (naira: number): number | undefined => {
  const kobo = nearestKobo(naira);
  const isWhole = nairaFromKobo(kobo) === naira || Math.abs(naira * 100 - kobo) <= NOISE_KOBO_MAX;
  return isWhole && Number.isSafeInteger(kobo) ? kobo : undefined;
};

/** Money in kobo (100 kobo = 1 NGN): whole and never negative. All computation is in kobo. */
export const koboSchema = z.int().check(z.minimum(0)).brand<"Kobo">();
export type Kobo = z.infer<typeof koboSchema>;

/**
 * NGN to whole kobo, without floating-point error; undefined if the amount is negative or not a whole number of kobo.
 */
export const koboFromNairaOrUndefined = (naira: number): Kobo | undefined =>
  koboSchema.safeParse(wholeKobo(naira)).data;

/** Validated NGN to whole kobo; throws a RangeError if the amount is negative or not a whole number of kobo. */
export const koboFromNaira = (naira: number): Kobo => {
  const kobo = koboFromNairaOrUndefined(naira);
  if (kobo === undefined) throw new RangeError("An amount of NGN is negative or not a whole number of kobo");
  return kobo;
};

/** An amount of NGN that another service sent, as a number or as decimal text (`"500.00"`), to whole kobo. */
export const koboFromSentNaira = (sent: unknown): Kobo | undefined => {
  if (typeof sent === "number") return koboFromNairaOrUndefined(sent);
  const isDecimal = typeof sent === "string" && /^\s*\d{1,15}(\.\d+)?\s*$/.test(sent);
  return isDecimal ? koboFromNairaOrUndefined(Number(sent)) : undefined;
};

/** Kobo, of either sign, to NGN: for requests, responses and text only. */
export const nairaFromKobo = (kobo: number): number => kobo / 100;

/** An amount of NGN in a request, rounded to whole kobo. Bounds that are added to it apply to the rounded amount. */
export const nairaField = z.number().check(
  z.refine((naira) => Number.isSafeInteger(nearestKobo(naira)), { error: "Is too large", abort: true }),
  z.refine((naira) => wholeKobo(naira) !== undefined, { error: "Must have at most 2 decimals", abort: true }),
  z.overwrite((naira) => nairaFromKobo(nearestKobo(naira))),
);

/** A percentage with at most 2 decimals. */
export const percentField = z
  .number()
  .check(
    z.refine((percent) => wholeKobo(percent) !== undefined, { error: "Must have at most 2 decimals", abort: true }),
  );

/**
 * An amount that is raised by a percentage, or lowered by a negative one; half a kobo is rounded up. Whole hundredths of
 * a percent keep the computation in integers.
 */
export const changedByPercent = (kobo: Kobo, percent: number): Kobo =>
  koboSchema.parse(kobo + Math.floor((kobo * Math.round(percent * 100) + 5_000) / 10_000));

/** An amount of NGN as people type it; the sign is optional. A comma stands between thousands and nowhere else. */
const TYPED = /^([+-]?)(\d{1,12}|[1-9]\d{0,2}(?:,\d{3}){1,3})(?:\.(\d{1,2}))?$/;
export const TYPED_NAIRA_RULE =
  "Must be an amount of NGN such as 5000 or 1,250.50: commas only between thousands, at most 12 digits before a point and 2 after it";

/** A typed amount such as `1,250.50` or `-500` in kobo. Undefined for another text: `500,00` could be 500 or 50,000. */
export const koboFromText = (text: string): number | undefined => {
  const [, sign, whole = "", decimals = ""] = TYPED.exec(text.trim()) ?? [];
  if (sign === undefined) return undefined;
  const kobo = Number(whole.replaceAll(",", "")) * 100 + Number(decimals.padEnd(2, "0"));
  return sign === "-" && kobo > 0 ? -kobo : kobo;
};

let twoDecimals: Intl.NumberFormat | undefined;

/**
 * NGN as text: `1,250.50`. The format is made once, which takes a hundred times as long as its use, and only when it is
 * used: most functions load this file and use none.
 */
export const nairaText = (naira: number): string => {
  twoDecimals ??= new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return twoDecimals.format(naira);
};

/** Kobo as text in NGN: `1,250.50`. */
export const koboText = (kobo: number): string => nairaText(nairaFromKobo(kobo));

/**
 * NGN as text with the currency: `NGN 1,250.50`, `-NGN 500.00`. The space is a plain one, so that a search through the
 * output of a command finds an amount as it is typed.
 */
export const moneyText = (naira: number): string => `${naira < 0 ? "-" : ""}NGN ${nairaText(Math.abs(naira))}`;

/** Kobo as text with the currency: `NGN 1,250.50`. */
export const koboMoneyText = (kobo: number): string => moneyText(nairaFromKobo(kobo));

/** NGN as text for an axis: `NGN 1.3K`, `-NGN 500`. */
export const shortMoneyText = (naira: number): string =>
  `${naira < 0 ? "-" : ""}NGN ${Math.abs(naira).toLocaleString("en-NG", { notation: "compact" })}`;

/** NGN with two decimals and no separators, for files and comparisons: `1250.50`. */
export const nairaDecimals = (naira: number): string => naira.toFixed(2);
