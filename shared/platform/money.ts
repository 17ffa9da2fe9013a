import * as z from "zod";
import { wholeKobo } from "../contract/naira.ts";

/** Money in kobo (100 kobo = 1 NGN): whole and never negative. All computation is in kobo. */
export const koboSchema = z.int().min(0).brand<"Kobo">();
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

/** Whole kobo to NGN, for responses and requests only. */
export const nairaFromKobo = (kobo: Kobo): number => kobo / 100;

/** Kobo of either sign, such as those of ledger entries, to NGN. */
export const nairaNumber = (kobo: number): number => kobo / 100;
