import * as z from "zod";
import { phoneNumberField, referenceField } from "./fields.ts";
import { withoutOwnNumber } from "./own-number.ts";
import { orderIdentity, transactionStatus } from "./transaction.ts";

const VIRTUAL_NIN = /^[A-Za-z0-9]{16}$/;

const ninField = z
  .string("Must be a string of 11 digits")
  .refine((text) => !VIRTUAL_NIN.test(text), {
    error: "Is a virtual NIN: send the 11-digit NIN itself",
    abort: true,
  })
  .regex(/^[0-9]{11}$/, "Must be exactly 11 digits");

const bvnField = z.string("Must be a string of 11 digits").regex(/^[0-9]{11}$/, "Must be exactly 11 digits");

/** JSON `true` only: consent is never implied. Source: docs/interface.md 12.D3. */
const consentField = z.literal(true, "Must be true: the individual's consent is required");

export const identityMode = z.enum(["basic", "advanced"]);
export type IdentityMode = z.infer<typeof identityMode>;

const modeField = z
  .string("Must be basic or advanced")
  .toLowerCase()
  .pipe(z.enum(identityMode.options, "Must be basic or advanced"))
  .default("basic");

/** Fields of every identity request; `purpose` is stored with the record of the consent. */
const common = {
  is_consent: consentField,
  purpose: z.string("Must be a string").max(100, "Must have at most 100 characters").optional(),
  reference: referenceField.optional(),
};

/** POST /identity/nin/verify. */
export const ninVerifyRequest = withoutOwnNumber(z.object({ nin: ninField, mode: modeField, ...common }));
/** POST /identity/bvn/verify. */
export const bvnVerifyRequest = withoutOwnNumber(z.object({ bvn: bvnField, mode: modeField, ...common }));
/** POST /identity/nin/retrieve and POST /identity/bvn/retrieve. */
export const retrieveRequest = withoutOwnNumber(z.object({ phone_number: phoneNumberField, ...common }));

const nullableText = z.string().nullable();

/** Fields of every result. A field that the upstream does not send is null. */
const person = {
  first_name: nullableText,
  last_name: nullableText,
  middle_name: nullableText,
  gender: z.enum(["M", "F"]).nullable(),
  date_of_birth: z.iso.date().nullable(),
};
const advancedPerson = {
  ...person,
  photo: nullableText,
  phone_number: nullableText,
  email: nullableText,
  title: nullableText,
  marital_status: nullableText,
  nationality: nullableText,
  residential_address: nullableText,
  state_of_origin: nullableText,
  lga_of_origin: nullableText,
};

/** Exactly these five fields. Source: docs/interface.md 12.7. */
export const ninBasicResult = z.object(person);
/** Further fields of the upstream are passed on. Source: docs/interface.md 12.D5. */
export const ninAdvancedResult = z.object({ nin: z.string(), ...advancedPerson }).loose();
export const bvnBasicResult = z.object({ ...person, phone_number: nullableText });
export const bvnAdvancedResult = z
  .object({
    bvn: z.string(),
    ...advancedPerson,
    enrollment_bank: nullableText,
    registration_date: z.iso.date().nullable(),
    watch_listed: z.boolean().nullable(),
  })
  .loose();
export const ninRetrieveResult = z.object({ nin: nullableText, ...person, phone_number: nullableText });
export const bvnRetrieveResult = z.object({ bvn: nullableText, ...person, phone_number: nullableText });

/** `data.transaction` of an identity response. Source: docs/interface.md 8.7. */
export const identityTransaction = z.object({
  title: z.string(),
  amount: z.number(),
  reference: z.string(),
  status: transactionStatus,
  ...orderIdentity,
});

/** `result` is null only while the status is `processing`. Source: docs/interface.md 12.D11. */
const identityResponse = <Result extends z.ZodType>(result: Result) =>
  z.object({ transaction: identityTransaction, result: result.nullable() });

export const ninVerifyResult = identityResponse(z.union([ninAdvancedResult, ninBasicResult]));
export const bvnVerifyResult = identityResponse(z.union([bvnAdvancedResult, bvnBasicResult]));
export const ninRetrievalResult = identityResponse(ninRetrieveResult);
export const bvnRetrievalResult = identityResponse(bvnRetrieveResult);
