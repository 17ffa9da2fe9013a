import * as z from "#zod";
import type { Answer } from "../service/service.ts";

/** A consented check of each subject; a test states only the fields that it is about. */
export const aNinCheck = (changes: Readonly<Record<string, unknown>> = {}) => ({
  nin: "12345678900",
  is_consent: true,
  ...changes,
});
export const aBvnCheck = (changes: Readonly<Record<string, unknown>> = {}) => ({
  bvn: "22345678900",
  is_consent: true,
  ...changes,
});
export const aRetrieval = (changes: Readonly<Record<string, unknown>> = {}) => ({
  phone_number: "08031234560",
  is_consent: true,
  ...changes,
});

/** Everything that is sold as an identity check, with what it costs on this machine. */
export const identityProducts = [
  {
    name: "a basic NIN verification",
    path: "/identity/nin/verify",
    body: aNinCheck(),
    field: "nin",
    naira: 150,
    title: "NIN Verification",
    type: "nin_verification",
    prefix: "VERIFY_",
  },
  {
    name: "an advanced NIN verification",
    path: "/identity/nin/verify",
    body: aNinCheck({ mode: "advanced" }),
    field: "nin",
    naira: 250,
    title: "NIN Verification",
    type: "nin_verification",
    prefix: "VERIFY_",
  },
  {
    name: "a NIN retrieval",
    path: "/identity/nin/retrieve",
    body: aRetrieval(),
    field: "phone_number",
    naira: 400,
    title: "NIN Retrieval",
    type: "nin_retrieval",
    prefix: "RETRIEVE_",
  },
  {
    name: "a basic BVN verification",
    path: "/identity/bvn/verify",
    body: aBvnCheck(),
    field: "bvn",
    naira: 100,
    title: "BVN Verification",
    type: "bvn_verification",
    prefix: "VERIFY_",
  },
  {
    name: "an advanced BVN verification",
    path: "/identity/bvn/verify",
    body: aBvnCheck({ mode: "advanced" }),
    field: "bvn",
    naira: 200,
    title: "BVN Verification",
    type: "bvn_verification",
    prefix: "VERIFY_",
  },
  {
    name: "a BVN retrieval",
    path: "/identity/bvn/retrieve",
    body: aRetrieval(),
    field: "phone_number",
    naira: 300,
    title: "BVN Retrieval",
    type: "bvn_retrieval",
    prefix: "RETRIEVE_",
  },
] as const;

/** The four routes, each by its first product. */
export const identityRoutes = identityProducts.filter(({ name }) => !name.includes("advanced"));

const checkData = z.strictObject({
  transaction: z.strictObject({
    title: z.string(),
    amount: z.number(),
    reference: z.string(),
    status: z.string(),
    type: z.string(),
    caller_reference: z.nullable(z.string()),
  }),
  result: z.nullable(z.record(z.string(), z.unknown())),
});
export const checkOf = (answer: Answer) => checkData.parse(answer.body.data);
