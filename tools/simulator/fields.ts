import * as z from "#zod";
import { HttpError } from "./http.ts";

/** Source: docs/interface.md 11.1. */
const AIRTIME_NAIRA_MIN = 50;

/** Optional: docs/interface.md 7.D1. */
const referenceField = z.optional(z.string().check(z.minLength(1), z.maxLength(100)));
export const withReference = { reference: referenceField };

/** Source: docs/interface.md 4.5. */
const phoneField = z
  .string()
  .check(z.regex(/^0[789][01]\d{8}$/, "The phone number must be exactly 11 digits, in the Nigerian format."));

const consentField = z.literal(true, "Consent is required.");
const modeField = z._default(z.enum(["basic", "advanced"]), "basic");
const identityNumberField = z.string().check(z.regex(/^\d{11}$/, "This must be exactly 11 digits."));

const isWholeKobo = (naira: number): boolean => Math.abs(naira * 100 - toKobo(naira)) < 1e-6;

export const toKobo = (naira: number): number => Math.round(naira * 100);

export const dataPurchaseFields = z.object({
  network_id: z.int(),
  plan_id: z.int(),
  phone_number: phoneField,
  reference: referenceField,
});

export const airtimePurchaseFields = z.object({
  network: z.string().check(z.minLength(1)),
  phone_number: phoneField,
  amount: z
    .number()
    .check(
      z.minimum(AIRTIME_NAIRA_MIN, `The amount must be at least ${AIRTIME_NAIRA_MIN}.`),
      z.refine(isWholeKobo, "The amount may have at most two decimals."),
    ),
  reference: referenceField,
});

const verification = { is_consent: consentField, mode: modeField, reference: referenceField };

export const ninVerificationFields = z.object({ nin: identityNumberField, ...verification });

const VIRTUAL_NIN = /^[A-Za-z0-9]{16}$/;
export const isVirtualNin = (number: string): boolean => VIRTUAL_NIN.test(number);

export const virtualNinVerificationFields = z.object({
  nin: z.union(
    [identityNumberField, z.string().check(z.regex(VIRTUAL_NIN))],
    "This must be 11 digits, or 16 letters and digits.",
  ),
  ...verification,
});

export const bvnVerificationFields = z.object({ bvn: identityNumberField, ...verification });

export const retrievalFields = z.object({
  phone_number: phoneField,
  is_consent: consentField,
  reference: referenceField,
});

/**
 * Parses a request's fields: a missing one is 400, an invalid one 422, both named in `errors`. Source:
 * docs/interface.md 5.1, 5.2.
 */
export const parseFields = <Fields extends z.ZodMiniObject>(
  fields: Fields,
  body: unknown,
  isStrict: boolean,
): z.infer<Fields> => {
  const record = z.record(z.string(), z.unknown()).safeParse(body);
  if (!record.success) throw new HttpError(400, "The request body must be a JSON object.");
  const parsed = fields.safeParse(body);
  const unknown = isStrict ? Object.keys(record.data).filter((name) => !(name in fields.shape)) : [];
  if (unknown.length > 0) throw unknownFields(unknown);
  if (parsed.success) return parsed.data;

  const errors: Record<string, string[]> = {};
  let isAnyMissing = false;
  for (const issue of parsed.error.issues) {
    const field = String(issue.path[0]);
    const isMissing = record.data[field] === undefined;
    isAnyMissing ||= isMissing;
    errors[field] = [...(errors[field] ?? []), isMissing ? `The ${field} field is required.` : issue.message];
  }
  throw isAnyMissing
    ? new HttpError(400, "A required parameter is missing.", errors)
    : new HttpError(422, "The given data was invalid.", errors);
};

/** A strict upstream refuses a field that the document does not show. */
const unknownFields = (names: readonly string[]): HttpError =>
  new HttpError(
    422,
    "The given data was invalid.",
    Object.fromEntries(names.map((name) => [name, [`The ${name} field is not allowed.`]])),
  );

/** Refuses an order that carries the caller's reference. */
export const refuseReference = (body: unknown): void => {
  if (typeof body === "object" && body !== null && "reference" in body) throw unknownFields(["reference"]);
};
