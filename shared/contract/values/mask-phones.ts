import { REFERENCE_ID } from "../transaction.ts";
import { asciiDigits } from "./ascii-digits.ts";
import { phoneNumberOf } from "./phone-number.ts";

/** Between the digits of a phone number: spaces, dashes, dots, slashes, brackets and characters that nobody sees. */
const GAP = String.raw`[\s\p{Pd}\p{Cf}._/()[\]]{0,3}`;

/** Nigerian mobile numbers as people write them: `08031234567`, `+234 803 123 4567`, `00234 (0) 803.123.4567`. */
const PHONE = String.raw`(?<!\d)(?:(?:00)?234${GAP}(?:0${GAP})?|0${GAP})[789]${GAP}[01](?:${GAP}\d){8}(?!\d)`;

/** The same without 0: an IP address has dots too, so only spaces and dashes are searched. */
const PHONE_WITHOUT_0 = String.raw`(?<!\d)[789][01](?:[\s\p{Pd}\p{Cf}]?\d){8}(?!\d)`;

/** Ids and hashes, which are random and may contain what looks like a number. */
const UUID = String.raw`[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}`;
const LONG_HEX = new RegExp(`${UUID}|[\\da-f]{18,}`);
const LONG_HEX_OR_PHONE = new RegExp(`${LONG_HEX.source}|${PHONE}|${PHONE_WITHOUT_0}`, "gu");

/** A text with all but the last digits of each phone number masked, whatever alphabet its digits are of. */
export const maskedText = (text: string, shown = 2): string => {
  const ascii = asciiDigits(text);
  const masked = ascii.replace(LONG_HEX_OR_PHONE, (found) =>
    LONG_HEX.test(found) ? found : withoutDigits(found, shown),
  );
  return masked === ascii ? text : masked;
};

/** `2026-11-30T08:09:10.123+01:00`, `2026-11-30 08:09`, and the end of `30 Nov 2026 08:09:10`. */
const TIME = String.raw`20\d\d(?:-[01]\d-[0-3]\d[ T]| )[0-2]\d:[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?(?:[+-]\d\d:?\d\d)?)?(?!\d)`;
/** Our references, UUIDs, hex that has a letter, and times: what an entry must name as a whole. Bounded: `+` is quadratic. */
const NAMES = String.raw`[A-Z]{1,20}_${REFERENCE_ID}(?![0-9A-Z])|${UUID}|${TIME}|(?=\d*[a-f])[\da-f]{18,}`;
const NAME = new RegExp(`^(?:${NAMES})$`);
/** Ten or more digits in a row are a NIN, a BVN or a phone number, whatever is between the digits and around them. */
const NAME_OR_DIGITS = new RegExp(`${NAMES}|\\d(?:${GAP}\\d){9,}`, "gu");

/**
 * The same, and of each other run of ten or more digits: it may be a NIN or a BVN. A text that is searched for as a phone
 * number is one, whatever is between its digits.
 */
export const maskedDigits = (text: string): string =>
  phoneNumberOf(text) === undefined
    ? maskedText(
        asciiDigits(text).replace(NAME_OR_DIGITS, (found) => (NAME.test(found) ? found : withoutDigits(found, 2))),
      )
    : withoutDigits(asciiDigits(text), 2);

/** As many digits as a phone number without its 0, a NIN or a BVN has, or more, with anything but letters between them. */
export const LONG_NUMBER = /\d(?:[^\p{L}\d]*\d){9,}/u;
const NAME_OR_LONG_NUMBER = new RegExp(`${NAMES}|${LONG_NUMBER.source}`, "gu");
/** Three digits are four characters of Base64. A number of ten digits has two such groups, wherever it begins. */
const BASE64_DIGITS = /(?:[MNO][DTjz][AEIMQUYcgk][w-z0-5]){2,}/g;

/** The same of a machine's text: also `0803%20123%204567`, and numbers in Base64. */
export const withoutLongNumbers = (text: string): string =>
  maskedDigits(text)
    .replaceAll(NAME_OR_LONG_NUMBER, (found) => (NAME.test(found) ? found : found.replaceAll(/\d/g, "*")))
    .replaceAll(BASE64_DIGITS, (found) => "*".repeat(found.length));

/** Keeps the last digits. */
const withoutDigits = (phone: string, shown: number): string =>
  phone.replaceAll(new RegExp(`\\d(?=(?:\\D*\\d){${shown}})`, "g"), "*");

/** The upstream's reference of an order as a log may have it: an upstream may make it of the recipient's number. */
export const loggableReference = (reference: string | undefined): string | undefined =>
  reference === undefined ? undefined : maskedText(reference);

/** The same value, with all but the last `shown` digits of each phone number masked, also within texts. */
export const maskPhones = (value: unknown, shown: number): unknown => {
  if (typeof value === "string") return maskedText(value, shown);
  if (Array.isArray(value)) return value.map((item) => maskPhones(item, shown));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [maskedText(name, shown), maskPhones(field, shown)]),
  );
};
