import * as z from "zod";

/** Money in kobo (100 kobo = 1 NGN): whole and never negative. The only money that is computed with. */
export const koboSchema = z.int().min(0).brand<"Kobo">();
export type Kobo = z.infer<typeof koboSchema>;

/** NGN as a JSON number to whole kobo. The number must have at most two decimals: the contract's schemas see to that. */
export const koboFromNaira = (naira: number): Kobo => {
  const kobo = Math.round(naira * 100);
  if (kobo / 100 !== naira) throw new RangeError("An amount of NGN has more than two decimals");
  return koboSchema.parse(kobo);
};

/** Whole kobo to NGN, for the outside only. */
export const nairaFromKobo = (kobo: Kobo): number => kobo / 100;
