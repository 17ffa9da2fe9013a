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

/** A grey pixel, JPEG: nobody's face. */
const MOCK_PHOTO =
  "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AN//Z";

/**
 * A made-up record, in the shape an upstream sends. The same number always gives the same person; a retrieval by phone number
 * gives the person whose number it would verify.
 */
export const mockRecord = (
  { subject, by }: IdentityCheck,
  extent: "full" | "minimal",
): Readonly<Record<string, unknown>> => {
  const known = "phoneNumber" in by ? by.phoneNumber : by.number;
  const lastTen = known.slice(1);
  const dice = createHash("sha256").update(`mock:${lastTen}`).digest();
  const roll = (index: number, sides: number): number => (dice[index] ?? 0) % sides;
  const [first_name, middle_name, last_name, gender] = people[roll(0, people.length)] ?? people[0];
  const number = "phoneNumber" in by ? `1${lastTen}` : known;
  const phoneNumber = /^[789][01]/.test(lastTen) ? `0${lastTen}` : `080${lastTen.slice(2)}`;
  const names = { [subject]: number, first_name, last_name };
  if (extent === "minimal") return names;
  const state = states[roll(1, states.length)] ?? states[0];
  const twoDigits = (value: number): string => String(value).padStart(2, "0");
  return {
    ...names,
    middle_name,
    gender,
    date_of_birth: `${1960 + roll(2, 45)}-${twoDigits(1 + roll(3, 12))}-${twoDigits(1 + roll(4, 28))}`,
    phone_number: phoneNumber,
    photo: MOCK_PHOTO,
    email: `${first_name}.${last_name}@example.com`.toLowerCase(),
    title: gender === "F" ? "Ms" : "Mr",
    marital_status: roll(5, 2) === 0 ? "Single" : "Married",
    nationality: "Nigeria",
    residential_address: `${1 + roll(6, 99)} Example Street, ${state}`,
    state_of_origin: `${state} State`,
    lga_of_origin: `${state} Central`,
    ...(subject === "bvn" && {
      enrollment_bank: "Example Bank",
      registration_date: "2016-05-04",
      watch_listed: false,
    }),
  };
};
