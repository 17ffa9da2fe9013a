/** Nigeria is one hour ahead of UTC all year: a date stored there as midnight leaves as 23:00 of the day before. */
const LAGOS_OFFSET_MS = 3_600_000;

const monthName = new Intl.DateTimeFormat("en-GB", { month: "long", timeZone: "UTC" });

/** How one family of providers writes a record: its field names, dates, genders and photos. */
type Spelling = {
  fieldName: (name: string) => string;
  date: (isoDate: string) => string;
  gender: (gender: string) => string;
  photo: (base64: string) => string;
};

const asIs = (text: string) => text;
const camelCase = (name: string) => name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
const renamed = (name: string, names: Readonly<Record<string, string>>) => names[name] ?? camelCase(name);
const dataUrl = (base64: string) => `data:image/jpeg;base64,${base64}`;
const fullGender = (gender: string) => (gender === "F" ? "Female" : "Male");
const lowerCase = (text: string) => text.toLowerCase();

/** 1974-01-06 as 06-01-1974. */
const dayFirst = (isoDate: string) => isoDate.split("-").reverse().join("-");

/** 1907-01-01 as 01-January-1907. */
function monthInWords(isoDate: string): string {
  const date = new Date(isoDate);
  return `${isoDate.slice(8)}-${monthName.format(date)}-${isoDate.slice(0, 4)}`;
}

/** 1997-12-31, midnight in Lagos, as 1997-12-30T23:00:00.000Z. */
const lagosMidnight = (isoDate: string) => new Date(Date.parse(isoDate) - LAGOS_OFFSET_MS).toISOString();

const documented: Spelling = { fieldName: asIs, date: asIs, gender: asIs, photo: asIs };

/** Chosen by the subject's last digit, round and round: 0, 4 and 8 are as documented. */
const spellings: readonly Spelling[] = [
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
    fieldName: asIs,
    date: lagosMidnight,
    gender: fullGender,
    photo: asIs,
  },
];

/** Spells the fields of a record in the way that its subject's last digit chooses. */
export function spellRecord(subject: string, fields: () => Readonly<Record<string, string>>): Record<string, string> {
  const spelling = spellings[Number(subject.slice(-1)) % spellings.length] ?? documented;
  const spell = (name: string, value: string) => {
    if (name === "gender") return spelling.gender(value);
    if (name === "photo") return spelling.photo(value);
    return name.endsWith("_of_birth") || name === "registration_date" ? spelling.date(value) : value;
  };
  const entries = Object.entries(fields()).map(([name, value]) => [spelling.fieldName(name), spell(name, value)]);
  return Object.fromEntries(entries);
}
