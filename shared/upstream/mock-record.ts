import { createHash } from "node:crypto";
import type { IdentityCheck } from "./upstream.ts";

const people = [
  ["ADAEZE", "NGOZI", "OKAFOR", "F"],
  ["CHINEDU", "EMEKA", "EZE", "M"],
  ["FATIMA", "AISHA", "BELLO", "F"],
  ["MUSA", "IBRAHIM", "SANI", "M"],
  ["FOLAKE", "TITILAYO", "ADEYEMI", "F"],
  ["TUNDE", "BABATUNDE", "OGUNLEYE", "M"],
] as const;
const states = ["Lagos", "Kano", "Rivers", "Oyo", "Enugu", "Kaduna"] as const;

/** A grey pixel as JPEG. */
const MOCK_PHOTO =
  "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AN//Z";

/**
 * A mock record in the format of an upstream. The same number always gives the same person, and a retrieval by phone
 * number gives the number whose verification gives the same person.
 */
export const mockRecord = (
  { idType, by }: IdentityCheck,
  extent: "full" | "minimal",
): Readonly<Record<string, unknown>> => {
  const known = "phoneNumber" in by ? by.phoneNumber : by.number;
  const lastTen = known.slice(1);
  const digest = createHash("sha256").update(`mock:${lastTen}`).digest();
  const pick = (index: number, choices: number): number => (digest[index] ?? 0) % choices;
  const [first_name, middle_name, last_name, gender] = people[pick(0, people.length)] ?? people[0];
  const number = "phoneNumber" in by ? `1${lastTen}` : known;
  const phoneNumber = /^[789][01]/.test(lastTen) ? `0${lastTen}` : `080${lastTen.slice(2)}`;
  const names = { [idType]: number, first_name, last_name };
  if (extent === "minimal") return names;
  const state = states[pick(1, states.length)] ?? states[0];
  const twoDigits = (value: number): string => String(value).padStart(2, "0");
  return {
    ...names,
    middle_name,
    gender,
    date_of_birth: `${1960 + pick(2, 45)}-${twoDigits(1 + pick(3, 12))}-${twoDigits(1 + pick(4, 28))}`,
    phone_number: phoneNumber,
    photo: MOCK_PHOTO,
    email: `${first_name}.${last_name}@example.com`.toLowerCase(),
    title: gender === "F" ? "Ms" : "Mr",
    marital_status: pick(5, 2) === 0 ? "Single" : "Married",
    nationality: "Nigeria",
    residential_address: `${1 + pick(6, 99)} Example Street, ${state}`,
    state_of_origin: `${state} State`,
    lga_of_origin: `${state} Central`,
    ...(idType === "bvn" && {
      enrollment_bank: "Example Bank",
      registration_date: "2016-05-04",
      watch_listed: false,
    }),
  };
};
