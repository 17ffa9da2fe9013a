import { createHash } from "node:crypto";
import { isVirtualNin } from "./fields.ts";
import { formatRecord } from "./record-formats.ts";

const FEMALE_NAMES = ["Adaeze", "Bisi", "Chidinma", "Fatima", "Halima", "Ngozi", "Temitope", "Zainab"];
const MALE_NAMES = ["Babatunde", "Chukwuemeka", "Danjuma", "Emeka", "Ibrahim", "Musa", "Olumide", "Sani"];
/** Names that no real family has, so a leaked mock record is recognised at sight. */
const LAST_NAMES = ["Mockson", "Sampleton", "Testerman", "Specimen", "Fictive", "Standin", "Dummyworth", "Exampleson"];
const STATES = ["Lagos", "Kano", "Enugu", "Rivers", "Oyo", "Kaduna", "Anambra", "Delta"];
const LGAS = ["Mock North", "Mock South", "Mock East", "Mock West"];
const BANKS = ["Mock Bank of Samples", "First Fictive Bank", "Specimen Trust Bank"];

/** A complete JPEG of one grey pixel. */
const PHOTO_BASE64 =
  "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=";

const FIRST_BIRTHDAY_MS = Date.UTC(1950, 0, 1);
const BIRTHDAY_RANGE_DAYS = 20_000;
const FIRST_REGISTRATION_MS = Date.UTC(2014, 1, 14);
const REGISTRATION_RANGE_DAYS = 3_500;
const DAY_MS = 86_400_000;

const PHONE_NUMBER = /^0([789][01]\d{8})$/;
/** The nin or bvn of a phone number's owner is this digit and the last ten digits of the phone number. */
const FIRST_DIGIT = { nin: "7", bvn: "2" } as const;

export type IdentityKind = keyof typeof FIRST_DIGIT;

/**
 * The mock person that a nin, bvn or phone number belongs to, in the documented formats: responses may use other ones
 * (`record-formats.ts`). The same number always gives the same person.
 */
export const personOf = (subject: string) => {
  const phoneNumber = phoneNumberOf(subject);
  const hash = createHash("sha256").update(phoneNumber).digest();
  const draw = (position: number, range: number): number => hash.readUInt16BE(position * 2) % range;
  const pick = (position: number, list: readonly string[]): string => list[draw(position, list.length)] ?? "Mock";

  const gender = draw(0, 2) === 0 ? "F" : "M";
  const names = gender === "F" ? FEMALE_NAMES : MALE_NAMES;
  const firstName = pick(1, names);
  const lastName = pick(2, LAST_NAMES);
  return {
    first_name: firstName,
    middle_name: pick(
      3,
      names.filter((name) => name !== firstName),
    ),
    last_name: lastName,
    gender,
    date_of_birth: isoDate(FIRST_BIRTHDAY_MS, draw(4, BIRTHDAY_RANGE_DAYS)),
    phone_number: phoneNumber,
    email: `${firstName}.${lastName}@example.com`.toLowerCase(),
    title: gender === "F" ? "Mrs" : "Mr",
    marital_status: pick(5, ["Single", "Married"]),
    nationality: "Nigeria",
    residential_address: `${draw(6, 99) + 1} Mock Street, Sampletown`,
    state_of_origin: pick(7, STATES),
    lga_of_origin: pick(8, LGAS),
    enrollment_bank: pick(9, BANKS),
    registration_date: isoDate(FIRST_REGISTRATION_MS, draw(10, REGISTRATION_RANGE_DAYS)),
    watch_listed: "NO",
    photo: PHOTO_BASE64,
  };
};

/** The nin or bvn that a retrieval returns for a phone number; verifying it finds the same person. */
export const identityNumberOf = (kind: IdentityKind, phoneNumber: string): string =>
  `${FIRST_DIGIT[kind]}${phoneNumber.slice(1)}`;

/** The subject of `retrieve` is a phone number, that of the others the nin or bvn itself. */
type RecordRequest = {
  kind: IdentityKind;
  detail: "basic" | "advanced" | "retrieve";
  subject: string;
  minimal: boolean;
};

/**
 * The `data.result` of an identity request. Only the five fields of docs/interface.md 12.7 are defined; the others, and
 * all formats, are as upstreams are seen to send them.
 */
export const identityRecord = ({ kind, detail, subject, minimal }: RecordRequest): Record<string, string> => {
  const person = personOf(subject);
  const { first_name, middle_name, last_name, gender, date_of_birth, phone_number } = person;
  const namesNumber = detail !== "retrieve" && !isVirtualNin(subject);
  const number = namesNumber ? subject : identityNumberOf(kind, phone_number);
  const record = formatRecord(subject, () => {
    if (minimal) return { first_name, last_name };
    const basic = { first_name, last_name, middle_name, gender, date_of_birth };
    if (detail === "retrieve" || (detail === "basic" && kind === "bvn")) return { ...basic, phone_number };
    if (detail === "basic") return basic;
    const { enrollment_bank, registration_date, watch_listed, ...shared } = person;
    return kind === "bvn" ? { ...shared, enrollment_bank, registration_date, watch_listed } : shared;
  });
  return detail === "basic" || (minimal && detail !== "retrieve") ? record : { [kind]: number, ...record };
};

const phoneNumberOf = (subject: string): string => {
  if (PHONE_NUMBER.test(subject)) return subject;
  const embedded = `0${subject.slice(1)}`;
  const hasKnownFirstDigit = Object.values(FIRST_DIGIT).some((digit) => subject.startsWith(digit));
  if (hasKnownFirstDigit && PHONE_NUMBER.test(embedded)) return embedded;
  const digits = createHash("sha256").update(subject).digest().readUInt32BE(0) % 100_000_000;
  return `080${String(digits).padStart(8, "0")}`;
};

const isoDate = (firstMs: number, days: number): string => new Date(firstMs + days * DAY_MS).toISOString().slice(0, 10);
