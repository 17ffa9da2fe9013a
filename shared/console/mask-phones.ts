/** Nigerian mobile numbers as people write them: `08031234567`, `+234 803 123 4567`, `00234 0803 1234567`. */
const PHONE = /(?<!\d)(?:(?:\+|00)?234(?:[ -]?0)?|0)[ -]?[789][ -]?[01](?:[ -]?\d){8}(?!\d)/;

/** Ids and hashes, which are random and may contain what looks like a number. */
const LONG_HEX = /[0-9a-f]{18,}/;
const LONG_HEX_OR_PHONE = new RegExp(`${LONG_HEX.source}|${PHONE.source}`, "g");

/** A text with all but the last two digits of each phone number masked. */
export const maskedText = (text: string): string =>
  text.replace(LONG_HEX_OR_PHONE, (found) => (LONG_HEX.test(found) ? found : masked(found)));

const masked = (phone: string): string => `${phone.slice(0, -2).replaceAll(/\d/g, "*")}${phone.slice(-2)}`;

/** The same value, with all but the last two digits of each phone number masked, also within texts. */
export const maskPhones = (value: unknown): unknown => {
  if (typeof value === "string") return maskedText(value);
  if (Array.isArray(value)) return value.map(maskPhones);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [maskedText(name), maskPhones(field)]));
};
