import * as z from "#zod";
import { asciiDigits } from "./ascii-digits.ts";
import { LONG_NUMBER } from "./mask-phones.ts";

const sentText = z.optional(z.string());
/** The numbers of a request, and its fields that are stored in clear text. */
const numberFields = z.object({
  nin: sentText,
  bvn: sentText,
  phone_number: sentText,
  reference: sentText,
  purpose: sentText,
  consent_evidence: z.optional(z.object({ id: z.string(), text_version: sentText })),
});

/** A token that a person makes for one company in place of the NIN. */
export const isVirtualNin = (text: string): boolean => /^[A-Za-z0-9]{16}$/.test(text);

/**
 * Refuses a request that contains its own number in a field that is stored in clear text: numbers are stored only as
 * keyed hashes. The digits of the field, of any alphabet, are joined first, and a phone number is searched for without
 * its leading 0. A virtual NIN is searched for in any letter case, without what is between its characters.
 * Source: docs/interface.md 4.D7.
 */
export const withoutOwnNumber = <Schema extends z.ZodMiniObject>(schema: Schema): Schema =>
  schema.check(({ value, issues }) => {
    const { nin, bvn, phone_number, reference, purpose, consent_evidence } = numberFields.parse(value);
    const stored = [
      ["reference", reference],
      ["purpose", purpose],
      ["consent_evidence", consent_evidence?.id],
      ["consent_evidence", consent_evidence?.text_version],
    ] as const;
    const numbers = [nin, bvn, phone_number]
      .filter((number) => number !== undefined)
      // Anything else is refused by its own field.
      .filter((number) => /^[0-9]{11}$/.test(number))
      .map((number) => (number === phone_number ? number.slice(1) : number));
    for (const [field, text] of stored) {
      if (text === undefined) continue;
      const digits = asciiDigits(text).replace(/\D/g, "");
      if (!(nin !== undefined && hasVirtualNin(text, nin)) && !numbers.some((number) => digits.includes(number)))
        continue;
      const message = "Must not contain the request's NIN, BVN or phone number: it is stored in clear text";
      issues.push({ code: "custom", path: [field], message, input: undefined });
    }
  });

/** Whether a text has this number, if it is a virtual NIN. */
export const hasVirtualNin = (text: string, number: string): boolean =>
  isVirtualNin(number) && alphanumeric(text).includes(alphanumeric(number));

const alphanumeric = (text: string): string =>
  asciiDigits(text)
    .replace(/[^A-Za-z0-9]/g, "")
    .toUpperCase();

/** Source: docs/interface.md 12.D4. */
export const hasLongNumber = (text: string): boolean => LONG_NUMBER.test(asciiDigits(text));
