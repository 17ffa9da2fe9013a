import type * as z from "zod";
import {
  bvnRetrievalResult,
  bvnVerifyRequest,
  bvnVerifyResult,
  type identityTransaction,
  ninRetrievalResult,
  ninVerifyRequest,
  ninVerifyResult,
  retrieveRequest,
} from "../identity.ts";
import { orderErrors, type Routes } from "../route.ts";

const identityDescription =
  "Charged only if a record is found. With a `reference` the same request gets its result again for 10 minutes without another charge.";
const verificationDescription = `The account must be entitled to basic or advanced checks. ${identityDescription}`;

/** The sandbox's person with the number 00000000000. */
const examplePerson = {
  first_name: "ADAEZE",
  last_name: "OKAFOR",
  middle_name: "NGOZI",
  gender: "F",
  date_of_birth: "1971-04-27",
};
/** The sandbox's person with the phone number 08000000000. */
const exampleOwner = {
  first_name: "FATIMA",
  last_name: "BELLO",
  middle_name: "AISHA",
  gender: "F",
  date_of_birth: "1979-08-28",
  phone_number: "08000000000",
};
type CheckInput = { readonly reference: string; readonly is_consent: true } & Readonly<Record<string, unknown>>;
type CheckedTransaction = Pick<z.input<typeof identityTransaction>, "type" | "title" | "amount" | "reference">;
const exampleCheck = (input: CheckInput, { type, ...shown }: CheckedTransaction, result: object) => ({
  input,
  message: "The record was found",
  data: { transaction: { ...shown, status: "success", type, caller_reference: input.reference }, result },
});

/** The routes of the function `check-identity`. */
export const checkIdentityRoutes = {
  verifyNin: {
    method: "POST",
    path: "/v1/identity/nin/verify",
    function: "check-identity",
    group: "identity",
    permissions: ["identity"],
    input: ninVerifyRequest,
    data: ninVerifyResult,
    summary: "Verify a NIN",
    clientMethod: "nin.verify",
    description: verificationDescription,
    errors: ["consent_required", ...orderErrors, "record_not_found", "delivery_failed", "provider_timeout"],
    example: exampleCheck(
      { nin: "00000000000", is_consent: true, mode: "basic", reference: "kyc-2041" },
      {
        type: "nin_verification",
        title: "NIN Verification",
        amount: 150,
        reference: "VERIFY_YFY4ZDPE7W39AD9A3QMJZEAMEV",
      },
      examplePerson,
    ),
  },
  retrieveNin: {
    method: "POST",
    path: "/v1/identity/nin/retrieve",
    function: "check-identity",
    group: "identity",
    permissions: ["identity:retrieve"],
    input: retrieveRequest,
    data: ninRetrievalResult,
    summary: "Retrieve NIN details by phone number",
    clientMethod: "nin.retrieve",
    description: identityDescription,
    errors: ["consent_required", ...orderErrors, "record_not_found", "delivery_failed", "provider_timeout"],
    example: exampleCheck(
      { phone_number: "08000000000", is_consent: true, reference: "kyc-2042" },
      {
        type: "nin_retrieval",
        title: "NIN Retrieval",
        amount: 400,
        reference: "RETRIEVE_5K4FVAQY00RQP4Q85G4HRNYWF3",
      },
      { nin: "18000000000", ...exampleOwner },
    ),
  },
  verifyBvn: {
    method: "POST",
    path: "/v1/identity/bvn/verify",
    function: "check-identity",
    group: "identity",
    permissions: ["identity"],
    input: bvnVerifyRequest,
    data: bvnVerifyResult,
    summary: "Verify a BVN",
    clientMethod: "bvn.verify",
    description: verificationDescription,
    errors: ["consent_required", ...orderErrors, "record_not_found", "delivery_failed", "provider_timeout"],
    example: exampleCheck(
      { bvn: "00000000000", is_consent: true, mode: "basic", reference: "kyc-2043" },
      {
        type: "bvn_verification",
        title: "BVN Verification",
        amount: 100,
        reference: "VERIFY_EQF1RD6YXZX7J75N8W0MFNY1Y1",
      },
      { ...examplePerson, phone_number: "08000000000" },
    ),
  },
  retrieveBvn: {
    method: "POST",
    path: "/v1/identity/bvn/retrieve",
    function: "check-identity",
    group: "identity",
    permissions: ["identity:retrieve"],
    input: retrieveRequest,
    data: bvnRetrievalResult,
    summary: "Retrieve BVN details by phone number",
    clientMethod: "bvn.retrieve",
    description: identityDescription,
    errors: ["consent_required", ...orderErrors, "record_not_found", "delivery_failed", "provider_timeout"],
    example: exampleCheck(
      { phone_number: "08000000000", is_consent: true, reference: "kyc-2044" },
      {
        type: "bvn_retrieval",
        title: "BVN Retrieval",
        amount: 300,
        reference: "RETRIEVE_5APR9FMNQ7SW5TRXBAF34Y05K4",
      },
      { bvn: "18000000000", ...exampleOwner },
    ),
  },
} as const satisfies Routes;
