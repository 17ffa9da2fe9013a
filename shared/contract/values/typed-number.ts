/** As amounts are typed: three digits behind a point may be meant as thousands. Up to 15 digits are exact. */
const TYPED = /^[+-]?\d{1,15}(?:\.\d{1,2})?$/;

/** A typed number such as `5000` or `-2.5`; NaN, which every schema refuses, for another text: `5.000` could be 5,000. */
export const numberFromText = (text: string): number => (TYPED.test(text.trim()) ? Number(text) : Number.NaN);
