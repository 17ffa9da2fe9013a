import * as z from "zod";

/** The numbers of a request, and the fields of it that are stored in clear. */
const checked = z.object({
  nin: z.string().optional(),
  bvn: z.string().optional(),
  phone_number: z.string().optional(),
  reference: z.string().optional(),
  purpose: z.string().optional(),
});

/**
 * Refuses a request that repeats its own number in a field that is stored in clear: a NIN or BVN may be stored only as a keyed hash.
 * The digits of the field count, whatever stands between them. A phone number counts without its leading 0, so that its
 * international form is found too.
 */
export const withoutOwnNumber = <Schema extends z.ZodObject>(schema: Schema): Schema =>
  schema.check(({ value, issues }) => {
    const { nin, bvn, phone_number, ...kept } = checked.parse(value);
    const numbers = [nin, bvn, phone_number]
      .filter((number) => number !== undefined)
      // What is no number gets its own message.
      .filter((number) => /^[0-9]{11}$/.test(number))
      .map((number) => (number === phone_number ? number.slice(1) : number));
    for (const [field, text = ""] of Object.entries(kept)) {
      const digits = text.replace(/\D/g, "");
      if (!numbers.some((number) => digits.includes(number))) continue;
      const message = "Must not contain the request's NIN, BVN or phone number: it is stored in clear";
      issues.push({ code: "custom", path: [field], message, input: undefined });
    }
  });
