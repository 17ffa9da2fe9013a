import { randomUUID } from "node:crypto";
import * as z from "#zod";
import type { ErrorCode } from "../../shared/contract/errors.ts";
import type { DocumentedOperation, Json } from "./document.ts";
import type { Sent } from "./exchange.ts";

/** A request of the operation, or of the one that is named. */
type ProvokingRequest = Sent & { readonly operation?: string };
/** Requests with a test key, the last of which gets the error. */
type Provocation = (operation: DocumentedOperation) => readonly ProvokingRequest[] | undefined;

const UNKNOWN_ID = 999_999_999;
const OTHER_PHONE_NUMBER = "08039999999";
const OTHER_NUMBER = "11111111111";

/** An order with the sandbox's magic number of this digit, as phone number, NIN or BVN. */
const withMagicNumber = (operation: DocumentedOperation, digit: string): readonly Sent[] | undefined => {
  const subject = subjectOf(operation);
  if (subject === undefined) return undefined;
  const number = subject === "phone_number" ? `0800000000${digit}` : `0000000000${digit}`;
  return [{ body: { ...anOrderOf(operation), [subject]: number } }];
};

const isIdentity = ({ path }: DocumentedOperation): boolean => path.startsWith("/identity/");

const subjectOf = ({ body }: DocumentedOperation): string | undefined =>
  ["phone_number", "nin", "bvn"].find((field) => body !== undefined && field in body.example);

/** The example with a new reference. */
export const anOrderOf = ({ body }: DocumentedOperation): Json => {
  const example = body?.example ?? {};
  return "reference" in example ? { ...example, reference: `contract-${randomUUID()}` } : example;
};

/** The field that the document's example of the error names. */
const namedField = ({ responses }: DocumentedOperation, status: number, code: string): string | undefined => {
  const example = responses.get(status)?.examples.get(code);
  const { errors } = z.object({ errors: z._default(z.record(z.string(), z.unknown()), {}) }).parse(example ?? {});
  return Object.keys(errors)[0];
};

export const provocations: Partial<Record<ErrorCode, Provocation>> = {
  missing_api_key: () => [{ key: undefined }],
  invalid_api_key: () => [{ key: "test_garbage" }],
  invalid_json: ({ body }) => body && [{ raw: "{" }],
  missing_parameter: (operation) => without(operation, namedField(operation, 400, "missing_parameter")),
  consent_required: (operation) => without(operation, "is_consent"),
  validation_failed: (operation) => {
    const field = namedField(operation, 422, "validation_failed");
    if (field === undefined) return undefined;
    if (operation.body === undefined) return [{ parameters: { [field]: "?" } }];
    return [{ body: { ...anOrderOf(operation), [field]: "?" } }];
  },
  insufficient_balance: (operation) => withMagicNumber(operation, "5"),
  reference_reused: (operation) => {
    const subject = subjectOf(operation);
    if (subject === undefined) return undefined;
    const first = { ...anOrderOf(operation), reference: `contract-${randomUUID()}` };
    const other = subject === "phone_number" ? OTHER_PHONE_NUMBER : OTHER_NUMBER;
    return [{ body: first }, { body: { ...first, [subject]: other } }];
  },
  order_cancelled: (operation) => {
    const reference = `contract-${randomUUID()}`;
    const cancellation = { operation: "cancelOrder", body: { reference, type: "data" } };
    return [cancellation, { body: { ...anOrderOf(operation), reference } }];
  },
  plan_unavailable: (operation) => [{ body: { ...anOrderOf(operation), plan_id: UNKNOWN_ID } }],
  price_changed: (operation) => [{ body: { ...anOrderOf(operation), expected_price: 450 } }],
  record_not_found: (operation) => withMagicNumber(operation, "1"),
  // In the sandbox a check without a result is 404, 422 or 504.
  delivery_failed: (operation) => (isIdentity(operation) ? undefined : withMagicNumber(operation, "1")),
  provider_unavailable: (operation) => withMagicNumber(operation, isIdentity(operation) ? "3" : "6"),
  provider_timeout: (operation) => withMagicNumber(operation, "6"),
  not_found: () => [{ parameters: { reference: `contract-${randomUUID()}` } }],
};

const without = (operation: DocumentedOperation, field: string | undefined): readonly Sent[] | undefined => {
  const { [field ?? ""]: removed, ...body } = anOrderOf(operation);
  return removed === undefined ? undefined : [{ body }];
};
