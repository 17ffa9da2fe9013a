/** Nigerian mobile numbers as people write them: `08031234567`, `+234 803 123 4567`. */
const PHONE = /(?<!\d)(?:\+?234|0)[ -]?[789][ -]?[01](?:[ -]?\d){8}(?!\d)/g;

/** Our own ids are random and may look like a number. */
const OWN_ID = /^[a-z]+_[0-9a-f]+$/;

const maskedText = (text: string): string =>
  OWN_ID.test(text)
    ? text
    : text.replace(PHONE, (phone) => `${phone.slice(0, -2).replaceAll(/\d/g, "*")}${phone.slice(-2)}`);

/** The same value, with all but the last two digits of each phone number masked, also within texts. */
export const maskPhones = (value: unknown): unknown => {
  if (typeof value === "string") return maskedText(value);
  if (Array.isArray(value)) return value.map(maskPhones);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [maskedText(name), maskPhones(field)]));
};
