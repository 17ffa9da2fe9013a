import * as z from "zod";
import { asciiDigits } from "./ascii-digits.ts";

/** The numbers of a request, and its fields that are stored in clear text. */
const numberFields = z.object({
  nin: z.string().optional(),
  bvn: z.string().optional(),
  phone_number: z.string().optional(),
  reference: z.string().optional(),
  purpose: z.string().optional(),
});

/**
 * Refuses a request that contains its own number in a field that is stored in clear text: numbers are stored only as
 * keyed hashes. The digits of the field, of any alphabet, are joined first, and a phone number is searched for without
 * its leading 0.
 * Source: docs/interface.md 4.D7.
 */
export const withoutOwnNumber = <Schema extends z.ZodObject>(schema: Schema): Schema =>
  schema.check(({ value, issues }) => {
    const { nin, bvn, phone_number, ...kept } = numberFields.parse(value);
    const numbers = [nin, bvn, phone_number]
      .filter((number) => number !== undefined)
      // Anything else is refused by its own field.
      .filter((number) => /^[0-9]{11}$/.test(number))
      .map((number) => (number === phone_number ? number.slice(1) : number));
    for (const [field, text = ""] of Object.entries(kept)) {
      const digits = asciiDigits(text).replace(/\D/g, "");
      if (!numbers.some((number) => digits.includes(number))) continue;
      const message = "Must not contain the request's NIN, BVN or phone number: it is stored in clear text";
      issues.push({ code: "custom", path: [field], message, input: undefined });
    }
  });

/**
 * Whether a text has a number as long as a phone number without its 0, a NIN or a BVN, with anything but letters between
 * its digits. Source: docs/interface.md 12.D4.
 */
export const hasLongNumber = (text: string): boolean => /\d(?:[^\p{L}\d]*\d){9}/u.test(asciiDigits(text));
