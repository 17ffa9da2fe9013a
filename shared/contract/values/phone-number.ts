import { phoneNumberField } from "../fields.ts";
import { asciiDigits } from "./ascii-digits.ts";

/** What people write between and around the digits of a phone number, and characters that nobody sees. */
const NO_DIGITS = /^\s*tel:|[^\p{L}\p{N}]/giu;

/**
 * The phone number that a text is, in 11 digits; undefined if it is none. `+234 803 123 4567`, `00234 (0) 803.123.4567`
 * and `803-123-4567` are 08031234567.
 */
export const phoneNumberOf = (text: string): string | undefined => {
  const digits = asciiDigits(text).replaceAll(NO_DIGITS, "");
  const national = digits.replace(/^(?:00)?234(?=0?[789])/, "").replace(/^(?=[789])/, "0");
  return phoneNumberField.safeParse(national).data;
};
