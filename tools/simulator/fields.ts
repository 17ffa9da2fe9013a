import * as z from "zod";
import { Refusal } from "./wire.ts";

/** Smallest airtime purchase, in NGN. Source: INTERFACE "Limits" 4. */
const AIRTIME_NGN_MIN = 50;

/** Source: INTERFACE "POST /vtu/data/purchase"; whether it is required is not shown, so it is not. */
const referenceField = z.string().min(1).max(100).optional();

/** Source: INTERFACE "Limits" 5, the 11-digit format. */
const phoneField = z
  .string()
  .regex(/^0[789][01]\d{8}$/, "The phone number must be exactly 11 digits, in the Nigerian format.");

const consentField = z.literal(true, "Consent is required.");
const modeField = z.enum(["basic", "advanced"]).default("basic");
const identityNumberField = z.string().regex(/^\d{11}$/, "This must be exactly 11 digits.");

const isWholeKobo = (naira: number) => Math.abs(naira * 100 - toKobo(naira)) < 1e-6;

/** NGN as whole kobo. */
export const toKobo = (naira: number): number => Math.round(naira * 100);

export const dataPurchaseFields = z.object({
  network_id: z.int(),
  plan_id: z.int(),
  phone_number: phoneField,
  reference: referenceField,
});

export const airtimePurchaseFields = z.object({
  network: z.string().min(1),
  phone_number: phoneField,
  amount: z
    .number()
    .min(AIRTIME_NGN_MIN, `The amount must be at least ${AIRTIME_NGN_MIN}.`)
    .refine(isWholeKobo, "The amount may have at most two decimals."),
  reference: referenceField,
});

const verification = { is_consent: consentField, mode: modeField, reference: referenceField };

export const ninVerificationFields = z.object({ nin: identityNumberField, ...verification });

export const bvnVerificationFields = z.object({ bvn: identityNumberField, ...verification });

export const retrievalFields = z.object({
  phone_number: phoneField,
  is_consent: consentField,
  reference: referenceField,
});

/** Reads a request's fields: a missing one is 400, a wrong one 422, both named in `errors`. Source: INTERFACE "Errors". */
export function readFields<Fields extends z.ZodObject>(fields: Fields, body: unknown): z.infer<Fields> {
  const present = z.record(z.string(), z.unknown()).safeParse(body);
  if (!present.success) throw new Refusal(400, "The request body must be a JSON object.");
  const read = fields.safeParse(body);
  if (read.success) return read.data;

  const errors: Record<string, string[]> = {};
  let missing = false;
  for (const issue of read.error.issues) {
    const field = String(issue.path[0]);
    const absent = present.data[field] === undefined;
    missing ||= absent;
    errors[field] = [...(errors[field] ?? []), absent ? `The ${field} field is required.` : issue.message];
  }
  throw missing
    ? new Refusal(400, "A required parameter is missing.", errors)
    : new Refusal(422, "The given data was invalid.", errors);
}
