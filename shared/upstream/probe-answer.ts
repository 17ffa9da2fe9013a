import * as z from "#zod";
import { DUPLICATE_REFERENCE, sentFields } from "./classify.ts";
import { bodyJson, type ExchangeResult } from "./exchange.ts";
import type { OrderKind } from "./profile.ts";
import type { OrderRequest } from "./requests.ts";
import type { CheckOutcome, Outcome } from "./upstream.ts";

export const PHONE_NUMBER = "08031234567";
export const ID_NUMBER = "12345678901";
const MESSAGE_LENGTH_MAX = 120;

/** One request of the probe, and what the upstream did with it. */
export type ProbeCheck = {
  readonly request: string;
  readonly result: "accepted" | "refused" | "unclear";
  /** The HTTP status; null without an answer. */
  readonly status: number | null;
  /** How the service takes the answer, and the upstream's own message. */
  readonly answer: string;
};

export type Listed = { readonly networkId: number; readonly planId: number; readonly network: string };

const variants = ["right", "referenced", "wrong", "additional", "repeated"] as const;
export type Variant = (typeof variants)[number];
export type Case = { readonly kind: OrderKind; readonly variant: Variant; readonly request: OrderRequest };

export type CaseAnswer = Case & {
  readonly check: ProbeCheck;
  readonly result: ExchangeResult;
  readonly outcome: Outcome | CheckOutcome;
  /** The outcome of the first copy, of a repeated order. */
  readonly first?: Outcome | CheckOutcome;
};

export const checkOf = (
  request: string,
  sent: ExchangeResult,
  result: ProbeCheck["result"],
  taken: string,
): ProbeCheck => ({
  request,
  result,
  status: sent.kind === "answered" ? sent.status : null,
  answer: describe(sent, taken),
});

export const resultOf = (outcome: Outcome | CheckOutcome): ProbeCheck["result"] => {
  if (outcome.kind === "delivered" || outcome.kind === "found" || outcome.kind === "no_record") return "accepted";
  if (outcome.kind === "unknown") {
    if (outcome.reason === "processing") return "accepted";
    return outcome.reason === DUPLICATE_REFERENCE ? "refused" : "unclear";
  }
  return "refused";
};

/** The upstream's own message is data of test mode. */
const describe = (result: ExchangeResult, taken: string): string => {
  if (result.kind !== "answered") return taken;
  const message = envelopeOf(result).message ?? "";
  const printable = message.replaceAll(/[^\p{L}\p{N}\p{P}\p{Zs}]/gu, "").slice(0, MESSAGE_LENGTH_MAX);
  return printable === "" ? taken : `${taken} ("${printable}")`;
};

const envelope = z.object({
  status: z.catch(z.optional(z.boolean()), undefined),
  message: z.catch(z.optional(z.string()), undefined),
  data: z.catch(sentFields, {}),
});
export const envelopeOf = (result: ExchangeResult): Partial<z.infer<typeof envelope>> =>
  (result.kind === "answered" ? envelope.safeParse(bodyJson(result.body)).data : undefined) ?? {};

export const sentenceOf = ({ request, status, answer }: ProbeCheck): string =>
  `${request}, ${status ?? "no answer"}, ${answer}`;
