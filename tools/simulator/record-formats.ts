/** Nigeria is one hour ahead of UTC all year, so midnight in Lagos is 23:00 UTC of the day before. */
const LAGOS_OFFSET_MS = 3_600_000;

const monthName = new Intl.DateTimeFormat("en-GB", { month: "long", timeZone: "UTC" });

/** How an upstream writes the field names, dates, genders and photos of a record. */
type RecordFormat = {
  readonly fieldName: (name: string) => string;
  readonly date: (isoDate: string) => string;
  readonly gender: (gender: string) => string;
  readonly photo: (base64: string) => string;
};

const unchanged = (text: string) => text;
const camelCase = (name: string) => name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
const renamed = (name: string, names: Readonly<Record<string, string>>) => names[name] ?? camelCase(name);
const dataUrl = (base64: string) => `data:image/jpeg;base64,${base64}`;
const fullGender = (gender: string) => (gender === "F" ? "Female" : "Male");
const lowerCase = (text: string) => text.toLowerCase();

/** 1974-01-06 as 06-01-1974. */
const dayFirst = (isoDate: string) => isoDate.split("-").reverse().join("-");

/** 1907-01-01 as 01-January-1907. */
const monthInWords = (isoDate: string): string => {
  const date = new Date(isoDate);
  return `${isoDate.slice(8)}-${monthName.format(date)}-${isoDate.slice(0, 4)}`;
};

/** 1997-12-31, midnight in Lagos, as 1997-12-30T23:00:00.000Z. */
const lagosMidnight = (isoDate: string) => new Date(Date.parse(isoDate) - LAGOS_OFFSET_MS).toISOString();

const documented: RecordFormat = { fieldName: unchanged, date: unchanged, gender: unchanged, photo: unchanged };

/** Indexed by the subject's last digit modulo 4, so 0, 4 and 8 are as documented. */
const formats: readonly RecordFormat[] = [
  documented,
  {
    fieldName: (name) => renamed(name, { last_name: "surname", date_of_birth: "birthdate" }),
    date: dayFirst,
    gender: lowerCase,
    photo: dataUrl,
  },
  {
    fieldName: (name) => renamed(name, { first_name: "firstname", middle_name: "middlename", last_name: "surname" }),
    date: monthInWords,
    gender: fullGender,
    photo: dataUrl,
  },
  {
    fieldName: unchanged,
    date: lagosMidnight,
    gender: fullGender,
    photo: unchanged,
  },
];

/** Writes a record in the format that the last digit of its subject selects. */
export const formatRecord = (
  subject: string,
  fields: () => Readonly<Record<string, string>>,
): Record<string, string> => {
  const format = formats[Number(subject.slice(-1)) % formats.length] ?? documented;
  const formatValue = (name: string, value: string) => {
    if (name === "gender") return format.gender(value);
    if (name === "photo") return format.photo(value);
    return name.endsWith("_of_birth") || name === "registration_date" ? format.date(value) : value;
  };
  const entries = Object.entries(fields()).map(([name, value]) => [format.fieldName(name), formatValue(name, value)]);
  return Object.fromEntries(entries);
};
