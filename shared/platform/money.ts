import * as z from "zod";
import { wholeKobo } from "../contract/naira.ts";

/** Money in kobo (100 kobo = 1 NGN): whole and never negative. The only money that is computed with. */
export const koboSchema = z.int().min(0).brand<"Kobo">();
export type Kobo = z.infer<typeof koboSchema>;

/** NGN to whole kobo, floating-point noise rounded away; undefined if the amount is negative or not a whole number of kobo. */
export const koboFromNairaOrUndefined = (naira: number): Kobo | undefined =>
  koboSchema.safeParse(wholeKobo(naira)).data;

/** The same for an amount that a schema has accepted already; throws where there is no such amount. */
export const koboFromNaira = (naira: number): Kobo => {
  const kobo = koboFromNairaOrUndefined(naira);
  if (kobo === undefined) throw new RangeError("An amount of NGN is negative or not a whole number of kobo");
  return kobo;
};

/** Whole kobo to NGN, for the outside only. */
export const nairaFromKobo = (kobo: Kobo): number => kobo / 100;
