import type * as z from "zod";

/** How a field of a record is read; undefined where the text says nothing. */
type Reader = (value: unknown) => string | boolean | undefined;

const text: Reader = (value) => {
  const trimmed = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
  return trimmed === "" ? undefined : trimmed;
};

const gender: Reader = (value) => {
  const initial = text(value)?.toString().charAt(0).toUpperCase();
  return initial === "M" || initial === "F" ? initial : undefined;
};

/** Base64 as such: the `data:` prefix of some providers goes. */
const photo: Reader = (value) =>
  text(value)
    ?.toString()
    .replace(/^data:[^,]*,/, "") || undefined;

const flag: Reader = (value) => {
  if (typeof value === "boolean") return value;
  const word = text(value)?.toString().toLowerCase();
  if (word === "yes" || word === "true" || word === "1") return true;
  return word === "no" || word === "false" || word === "0" ? false : undefined;
};

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/** Nigeria has one zone, UTC+1, without summer time: midnight there is 23:00 of the day before in UTC. */
const LAGOS_OFFSET_MS = 3_600_000;

/** The date styles of real providers, as `YYYY-MM-DD`: ISO dates and instants, day-month-year, and month names. */
const date: Reader = (value) => {
  const written = text(value)?.toString() ?? "";
  const iso = /^(\d{4})-(\d{2})-(\d{2})(T.*(?:Z|[+-]\d{2}:?\d{2}))?/.exec(written);
  if (iso?.[4] !== undefined) return instantDate(written);
  if (iso !== null) return calendarDate(iso[1], iso[2], iso[3]);
  const numeric = /^(\d{1,2})[-/. ](\d{1,2})[-/. ](\d{4})$/.exec(written);
  if (numeric !== null) return calendarDate(numeric[3], numeric[2], numeric[1]);
  const named = /^(\d{1,2})[-/. ]([A-Za-z]{3,9})[-/., ]+(\d{4})$/.exec(written);
  if (named === null) return undefined;
  const month = MONTHS.indexOf((named[2] ?? "").slice(0, 3).toLowerCase()) + 1;
  return calendarDate(named[3], String(month), named[1]);
};

const instantDate = (written: string): string | undefined => {
  const inLagos = new Date(Date.parse(written) + LAGOS_OFFSET_MS);
  const isDay = !Number.isNaN(inLagos.getTime()) && inLagos.getUTCFullYear() <= 9_999;
  return isDay ? inLagos.toISOString().slice(0, 10) : undefined;
};

/** Undefined for a day that no calendar has. */
const calendarDate = (year = "", month = "", day = ""): string | undefined => {
  const written = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  const parsed = new Date(`${written}T00:00:00.000Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(written) ? written : undefined;
};

type Field = { readonly spellings: readonly string[]; readonly read: Reader };
const field = (read: Reader, ...spellings: readonly string[]): Field => ({ read, spellings });

/** Our name of each field, how to read it, and what providers call it: lower-case, without separators. */
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
 * An upstream's record under our field names and in our formats, with the fields that the schema has; what the record lacks is
 * null, or what the request already `known`. A loose schema keeps what the upstream sends beyond. Undefined where the record says
 * nothing about the person.
 */
export const normaliseRecord = <Result extends z.ZodObject>(
  record: Readonly<Record<string, unknown>>,
  schema: Result,
  known: Readonly<Record<string, string>>,
): z.output<Result> | undefined => {
  const sent = Object.entries(record).map(([name, value]) => ({ name, plain: plainName(name), value }));
  const wanted = Object.keys(schema.shape).map((name) => ({ name, ...fieldOf(name) }));
  const found = wanted.map(({ name, spellings, read }) => {
    const values = spellings.flatMap((spelling) => sent.filter(({ plain }) => plain === spelling));
    return { name, value: values.map((entry) => read(entry.value)).find((value) => value !== undefined) };
  });
  if (found.every(({ name, value }) => value === undefined || name in known)) return undefined;
  const read = new Set(wanted.flatMap(({ spellings }) => spellings));
  const beyond = sent.filter(({ plain }) => !read.has(plain)).map(({ name, value }) => [name, value]);
  const answered = found.map(({ name, value }) => [name, value ?? known[name] ?? null]);
  return schema.safeParse(Object.fromEntries([...beyond, ...answered])).data;
};

const fieldOf = (name: string): Field => (isFieldName(name) ? fields[name] : field(text, plainName(name)));
const isFieldName = (name: string): name is keyof typeof fields => Object.hasOwn(fields, name);
const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");
