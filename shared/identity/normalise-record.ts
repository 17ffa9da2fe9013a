import type * as z from "zod";
import type { DateOrder } from "../contract/date-order.ts";
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
const field = (read: Reader, ...aliases: readonly string[]): Field => ({ read, aliases });

/** Our fields, and the names that upstreams use for them: lower-case, without separators. */
const fields = {
  nin: field(text, "nin", "ninnumber", "nationalidentitynumber"),
  bvn: field(text, "bvn", "bvnnumber", "bankverificationnumber"),
  first_name: field(text, "firstname", "givenname", "fname"),
  last_name: field(text, "lastname", "surname", "familyname", "lname"),
  middle_name: field(text, "middlename", "othername", "othernames", "mname"),
  gender: field(gender, "gender", "sex"),
  date_of_birth: field(date, "dateofbirth", "birthdate", "dob"),
  photo: field(photo, "photo", "image", "base64image", "picture", "photograph"),
  phone_number: field(
    text,
    "phonenumber",
    "phone",
    "telephoneno",
    "telephone",
    "mobile",
    "mobilenumber",
    "phonenumber1",
  ),
  email: field(text, "email", "emailaddress"),
  title: field(text, "title"),
  marital_status: field(text, "maritalstatus"),
  nationality: field(text, "nationality", "country"),
  residential_address: field(text, "residentialaddress", "residenceaddress", "address"),
  state_of_origin: field(text, "stateoforigin", "selforiginstate", "originstate"),
  lga_of_origin: field(text, "lgaoforigin", "selforiginlga", "originlga"),
  enrollment_bank: field(text, "enrollmentbank", "enrolmentbank"),
  registration_date: field(date, "registrationdate"),
  watch_listed: field(flag, "watchlisted"),
} as const satisfies Record<string, Field>;

/**
 * Converts an upstream's record to our field names and formats, with the fields of the schema. A missing field is null,
 * or its value in `known`, which the request contained. A loose schema keeps the upstream's other fields. Undefined if
 * the record has nothing about the person.
 */
export const normaliseRecord = <Result extends z.ZodObject>(
  record: Readonly<Record<string, unknown>>,
  schema: Result,
  known: Readonly<Record<string, string>>,
  dates: DateReadingContext,
): z.output<Result> | undefined => {
  const sent = Object.entries(record).map(([name, value]) => ({ name, plain: plainName(name), value }));
  const wanted = Object.keys(schema.shape).map((name) => ({ name, ...fieldOf(name) }));
  const found = wanted.map(({ name, aliases, read }) => {
    const values = aliases.flatMap((alias) => sent.filter(({ plain }) => plain === alias));
    const value = values.map((entry) => read(entry.value, dates)).find((one) => one !== undefined);
    const [unread] = read === date && value === undefined ? values.flatMap((entry) => text(entry.value) ?? []) : [];
    if (unread !== undefined) dates.onUnreadable(name, dateShape(unread));
    return { name, value };
  });
  if (found.every(({ name, value }) => value === undefined || name in known)) return undefined;
  const knownAliases = new Set(wanted.flatMap(({ aliases }) => aliases));
  const others = sent.filter(({ plain }) => !knownAliases.has(plain)).map(({ name, value }) => [name, value]);
  const fieldsFound = found.map(({ name, value }) => [name, value ?? known[name] ?? null]);
  return schema.safeParse(Object.fromEntries([...others, ...fieldsFound])).data;
};

const fieldOf = (name: string): Field => (isFieldName(name) ? fields[name] : field(text, plainName(name)));
const isFieldName = (name: string): name is keyof typeof fields => Object.hasOwn(fields, name);
const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");
