import * as z from "#zod";
import { components } from "./components.ts";
import { amountField, phoneNumberField, referenceField, wellFormed } from "./fields.ts";
import { orderIdentity, serviceReferenceField, transactionStatus } from "./transaction.ts";
import { hasLongNumber, withoutOwnNumber } from "./values/own-number.ts";
import { timeField } from "./values/time-field.ts";

const ninMeta = { description: "The national identification number, 11 digits." };
const bvnMeta = { description: "The bank verification number, 11 digits." };

/** The pattern takes a virtual NIN always: where the upstream takes none, it is refused as one. */
const ninField = (forms: string) =>
  z
    .string(`Must be a string of ${forms}`)
    .check(z.regex(/^([0-9]{11}|[A-Za-z0-9]{16})$/, `Must be exactly ${forms}`))
    .register(z.globalRegistry, {
      description:
        "The national identification number, 11 digits; or a virtual NIN of 16 letters and digits, if the service's upstream takes it.",
    });

const bvnField = z
  .string("Must be a string of 11 digits")
  .check(z.regex(/^[0-9]{11}$/, "Must be exactly 11 digits"))
  .register(z.globalRegistry, bvnMeta);

/** JSON `true` only: consent is never implied. Source: docs/interface.md 12.D3. */
const consentField = z
  .literal(true, "Must be true: the individual's consent is required")
  .register(z.globalRegistry, { description: "The person has consented. Only JSON `true` is accepted." });

export const identityMode = z.enum(["basic", "advanced"]);
export type IdentityMode = z.infer<typeof identityMode>;

const modeField = z
  ._default(z.pipe(z.string("Must be basic or advanced").check(z.toLowerCase()), identityMode), "basic")
  .register(z.globalRegistry, {
    description:
      "`basic`: name, gender and date of birth. `advanced`: the whole profile, with a photo. Not case-sensitive.",
    enum: [...identityMode.options],
  });

export const consentMethod = z.enum(["otp", "igree", "ninauth", "form", "app"]);

const STORED_TEXT = /^[A-Za-z0-9._:-]+$/;
/** Of a version, so that no caller pads a number of a person to the length of a UUID. */
const uuid = z.uuid();

/**
 * How the person consented. It is stored with the consent and never sent upstream. Messages name the inner field, because
 * errors are listed by the outer one. Source: docs/interface.md 12.D18.
 */
const evidenceField = z
  .object(
    {
      method: z
        .enum(consentMethod.options, `method: Must be one of ${consentMethod.options.join(", ")}`)
        .register(z.globalRegistry, { description: "How the person consented." }),
      id: z
        .string("id: Must be a string")
        .check(
          z.maxLength(100, "id: Must have at most 100 characters"),
          z.regex(STORED_TEXT, "id: Must consist of the characters A-Z a-z 0-9 . _ : -"),
          z.refine(
            (id) => uuid.safeParse(id).success || !hasLongNumber(id),
            "id: Must be a UUID (RFC 9562), or have no number of 10 or more digits: it is stored in clear text",
          ),
        )
        .register(z.globalRegistry, {
          description:
            "The id of the one-time password, authorisation or form. A UUID of a version of RFC 9562, or a text without a number of 10 or more digits.",
          examples: ["otp-5f2c"],
        }),
      obtained_at: z
        .string("obtained_at: Must be a string")
        .check(
          z.refine(
            (time) => timeField.safeParse(time).success,
            "obtained_at: Must be a time with its offset, such as 2026-11-21T09:30:00Z",
          ),
        )
        .register(z.globalRegistry, {
          description: "When the person consented; not in the future.",
          format: "date-time",
          examples: ["2026-11-21T09:30:00Z"],
        }),
      text_version: z
        .optional(
          z.string("text_version: Must be a string").check(
            z.maxLength(40, "text_version: Must have at most 40 characters"),
            z.regex(STORED_TEXT, "text_version: Must consist of the characters A-Z a-z 0-9 . _ : -"),
            z.refine((version) => !hasLongNumber(version), "text_version: Must have no number of 10 or more digits"),
          ),
        )
        .register(z.globalRegistry, {
          description: "The version of the text that the person consented to.",
          examples: ["terms-3"],
        }),
    },
    "Must be an object",
  )
  .register(z.globalRegistry, {
    description:
      "How the person consented. It is stored with the record of the consent, and is not sent to the upstream.",
  })
  .register(components, { id: "ConsentEvidence" });
export type ConsentEvidence = z.infer<typeof evidenceField>;

/** Fields of every identity request. */
const common = {
  is_consent: consentField,
  purpose: z
    .optional(
      z.string().check(
        z.maxLength(100),
        wellFormed,
        z.refine(
          (text) => !hasLongNumber(text),
          "Must not contain a number of 10 or more digits: it is stored in clear text",
        ),
      ),
    )
    .register(z.globalRegistry, {
      description:
        "Why the person is looked up. It is stored in clear text with the record of the consent and must not contain the request's NIN, BVN or phone number, nor any other number of 10 or more digits.",
    }),
  consent_evidence: z.optional(evidenceField),
  reference: z.optional(referenceField),
};

const ninVerify = (forms: string) => withoutOwnNumber(z.object({ nin: ninField(forms), mode: modeField, ...common }));
/** POST /identity/nin/verify. */
export const ninVerifyRequest = ninVerify("11 digits").register(components, { id: "NinVerifyRequest" });
/** The same where the upstream takes virtual NINs: its messages name both forms. */
export const virtualNinVerifyRequest = ninVerify("11 digits, or a virtual NIN of 16 letters and digits");
/** POST /identity/bvn/verify. */
export const bvnVerifyRequest = withoutOwnNumber(z.object({ bvn: bvnField, mode: modeField, ...common })).register(
  components,
  { id: "BvnVerifyRequest" },
);
/** POST /identity/nin/retrieve and POST /identity/bvn/retrieve. */
export const retrieveRequest = withoutOwnNumber(z.object({ phone_number: phoneNumberField, ...common })).register(
  components,
  { id: "RetrieveRequest" },
);

const nullableText = z.nullable(z.string());

/** Fields of every result: never null, because strictly typed callers read them as text. */
const person = {
  first_name: z.string(),
  last_name: z.string(),
  middle_name: z.string(),
  gender: z.enum(["M", "F", ""]),
  date_of_birth: z
    .string()
    .check(z.regex(/^([0-9]{4}-[0-9]{2}-[0-9]{2})?$/))
    .register(z.globalRegistry, { description: "`YYYY-MM-DD`, or empty." }),
};
const advancedPerson = {
  ...person,
  photo: z.string().register(z.globalRegistry, { description: "Base64, without a `data:` prefix, or empty." }),
  phone_number: nullableText,
  email: nullableText,
  title: nullableText,
  marital_status: nullableText,
  nationality: nullableText,
  residential_address: nullableText,
  state_of_origin: nullableText,
  lga_of_origin: nullableText.check(z.meta({ description: "Local government area." })),
};

/** Exactly these five fields. Source: docs/interface.md 12.7. */
export const ninBasicResult = z.object(person).register(components, { id: "NinBasicResult" });
/** Further fields of the upstream are passed on. Source: docs/interface.md 12.D5. */
export const ninAdvancedResult = z
  .looseObject({ nin: z.string().register(z.globalRegistry, ninMeta), ...advancedPerson })
  .register(components, { id: "NinAdvancedResult" });
export const bvnBasicResult = z
  .object({ ...person, phone_number: nullableText })
  .register(components, { id: "BvnBasicResult" });
export const bvnAdvancedResult = z
  .looseObject({
    bvn: z.string().register(z.globalRegistry, bvnMeta),
    ...advancedPerson,
    enrollment_bank: nullableText.check(z.meta({ description: "The bank where the BVN was registered." })),
    registration_date: z.nullable(z.iso.date()).register(z.globalRegistry, { description: "`YYYY-MM-DD`." }),
    watch_listed: z.nullable(z.boolean()),
  })
  .register(components, { id: "BvnAdvancedResult" });
export const ninRetrieveResult = z
  .object({ nin: nullableText.check(z.meta(ninMeta)), ...person, phone_number: nullableText })
  .register(components, { id: "NinRetrieveResult" });
export const bvnRetrieveResult = z
  .object({ bvn: nullableText.check(z.meta(bvnMeta)), ...person, phone_number: nullableText })
  .register(components, { id: "BvnRetrieveResult" });

/** `data.transaction` of an identity response. Source: docs/interface.md 8.7. */
export const identityTransaction = z
  .object({
    title: z.string().register(z.globalRegistry, { description: "The operation, for example `NIN Verification`." }),
    amount: amountField,
    reference: serviceReferenceField,
    status: transactionStatus,
    ...orderIdentity,
  })
  .register(components, { id: "IdentityTransaction" });

/** Source: docs/interface.md 12.D11. */
const identityResponse = <Result extends z.ZodMiniType>(id: string, result: Result) =>
  z
    .object({
      transaction: identityTransaction,
      result: z.nullable(result).check(z.meta({ description: "Null only while the status is `processing`." })),
    })
    .register(components, { id });

export const ninVerifyResult = identityResponse("NinVerification", z.union([ninAdvancedResult, ninBasicResult]));
export const bvnVerifyResult = identityResponse("BvnVerification", z.union([bvnAdvancedResult, bvnBasicResult]));
export const ninRetrievalResult = identityResponse("NinRetrieval", ninRetrieveResult);
export const bvnRetrievalResult = identityResponse("BvnRetrieval", bvnRetrieveResult);
