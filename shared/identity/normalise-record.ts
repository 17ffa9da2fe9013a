import * as z from "#zod";
import type { DateOrder } from "../contract/values/date-order.ts";
import { dateShape, readDate } from "./read-date.ts";

/** `onUnreadable` gets the field and the shape of a date that cannot be read, never its value. */
export type DateReadingContext = {
  readonly order: DateOrder;
  readonly nowMs: number;
  readonly onUnreadable: (field: string, shape: string) => void;
};

/** Reads a field of a record; undefined if it has no usable value. */
type Reader = (value: unknown, dates: DateReadingContext) => string | boolean | undefined;

const text = (value: unknown): string | undefined => {
  const trimmed = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
  return trimmed === "" ? undefined : trimmed;
};

/** A number of a person or phone has 11 digits, and a JSON number no leading zero. */
const digits = (value: unknown): string | undefined =>
  typeof value === "number" && /^\d{10}$/.test(String(value)) ? `0${value}` : text(value);

const gender: Reader = (value) => {
  const initial = text(value)?.charAt(0).toUpperCase();
  return initial === "M" || initial === "F" ? initial : undefined;
};

/** Plain Base64, without the `data:` prefix that some upstreams send. */
const photo: Reader = (value) => text(value)?.replace(/^data:[^,]*,/, "") || undefined;

const flag: Reader = (value) => {
  if (typeof value === "boolean") return value;
  const word = text(value)?.toLowerCase();
  if (word === "yes" || word === "true" || word === "1") return true;
  return word === "no" || word === "false" || word === "0" ? false : undefined;
};

const date: Reader = (value, { order, nowMs }) => {
  const written = text(value);
  return written === undefined ? undefined : readDate(written, order, nowMs);
};

type Field = { readonly aliases: readonly string[]; readonly read: Reader };
const recordField = (read: Reader, ...aliases: readonly string[]): Field => ({ read, aliases });

/** Our fields, and the names that upstreams use for them: lower-case, without separators. */
const recordFields = {
  nin: recordField(digits, "nin", "ninnumber", "nationalidentitynumber"),
  bvn: recordField(digits, "bvn", "bvnnumber", "bankverificationnumber"),
  first_name: recordField(text, "firstname", "givenname", "fname"),
  last_name: recordField(text, "lastname", "surname", "familyname", "lname"),
  middle_name: recordField(text, "middlename", "othername", "othernames", "mname"),
  gender: recordField(gender, "gender", "sex"),
  date_of_birth: recordField(date, "dateofbirth", "birthdate", "dob"),
  photo: recordField(photo, "photo", "image", "base64image", "picture", "photograph"),
  phone_number: recordField(
    digits,
    "phonenumber",
    "phone",
    "telephoneno",
    "telephone",
    "mobile",
    "mobilenumber",
    "phonenumber1",
  ),
  email: recordField(text, "email", "emailaddress"),
  title: recordField(text, "title"),
  marital_status: recordField(text, "maritalstatus"),
  nationality: recordField(text, "nationality", "country"),
  residential_address: recordField(text, "residentialaddress", "residenceaddress", "address"),
  state_of_origin: recordField(text, "stateoforigin", "selforiginstate", "originstate"),
  lga_of_origin: recordField(text, "lgaoforigin", "selforiginlga", "originlga"),
  enrollment_bank: recordField(text, "enrollmentbank", "enrolmentbank"),
  registration_date: recordField(date, "registrationdate"),
  watch_listed: recordField(flag, "watchlisted"),
} as const satisfies Record<string, Field>;

/**
 * Converts an upstream's record to our field names and formats, with the fields of the schema. A missing field has its
 * value in `known`, which the request contained; otherwise it is null, or empty text where the schema takes no null. A
 * loose schema keeps the upstream's other fields. Undefined if the record has no name and, in a retrieval, no number.
 */
export const normaliseRecord = <Result extends z.ZodMiniObject>(
  record: Readonly<Record<string, unknown>>,
  schema: Result,
  known: Readonly<Record<string, string>>,
  dates: DateReadingContext,
): z.output<Result> | undefined => {
  const sent = Object.entries(record).map(([name, value]) => ({
    name: name.toWellFormed(),
    plain: plainName(name),
    value: withWholeTexts(value),
  }));
  const wanted = Object.entries(schema.shape).map(([name, type]) => ({
    name,
    absent: z.safeParse(type, null).success ? null : "",
    ...fieldOf(name),
  }));
  const found = wanted.map(({ name, absent, aliases, read }) => {
    const values = aliases.flatMap((alias) => sent.filter(({ plain }) => plain === alias));
    const value = values.map((entry) => read(entry.value, dates)).find((one) => one !== undefined);
    const [unread] = read === date && value === undefined ? values.flatMap((entry) => text(entry.value) ?? []) : [];
    if (unread !== undefined) dates.onUnreadable(name, dateShape(unread));
    return { name, absent, value };
  });
  if (found.every(({ name, value }) => value === undefined || name in known || !identifies(name))) return undefined;
  const knownAliases = new Set(wanted.flatMap(({ aliases }) => aliases));
  const others = sent.filter(({ plain }) => !knownAliases.has(plain)).map(({ name, value }) => [name, value]);
  const fieldsFound = found.map(({ name, absent, value }) => [name, value ?? known[name] ?? absent]);
  return schema.safeParse(Object.fromEntries([...others, ...fieldsFound])).data;
};

/** Whether the record has another NIN or BVN than the one that was asked for. A masked one is no number. */
export const isOfAnother = (
  record: Readonly<Record<string, unknown>>,
  idType: "nin" | "bvn",
  asked: string,
): boolean => {
  const aliases: readonly string[] = recordFields[idType].aliases;
  return Object.entries(record).some(([name, value]) => {
    const sent = aliases.includes(plainName(name)) ? digits(value) : undefined;
    return sent !== undefined && /^\d{11}$/.test(sent) && sent !== asked;
  });
};

const IDENTIFYING: readonly string[] = ["first_name", "last_name", "middle_name", "nin", "bvn"];
const identifies = (name: string): boolean => IDENTIFYING.includes(name);

/** Half of a surrogate pair becomes U+FFFD: parsers of JSON in other languages refuse the whole answer for it. */
const withWholeTexts = (value: unknown): unknown => {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(withWholeTexts);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name.toWellFormed(), withWholeTexts(field)]));
};

const fieldOf = (name: string): Field => (isFieldName(name) ? recordFields[name] : recordField(text, plainName(name)));
const isFieldName = (name: string): name is keyof typeof recordFields => Object.hasOwn(recordFields, name);
const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");
