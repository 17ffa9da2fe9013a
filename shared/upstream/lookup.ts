import * as z from "#zod";
import type { FinalStatus } from "../contract/final-status.ts";
import { reportedFields, reportedReference } from "../contract/upstream-event.ts";
import { maskedDigits } from "../contract/values/mask-phones.ts";
import { type Kobo, koboFromSentNaira } from "../contract/values/money.ts";
import { isOfUpstream, responseBody, saysNotFound, sentFields } from "./classify.ts";
import { bodyJson, type ExchangeResult } from "./exchange.ts";
import { finalStatusOf, type LookupProfile, REFERENCE_PLACE, translated, type UpstreamProfile } from "./profile.ts";
import type { UpstreamRequest } from "./requests.ts";

/** Lookups are counted with other reads, so that they never take what orders need of a key's limit. */
export const LOOKUP_GROUP = "catalog";
const LOOKUP_BYTES_MAX = 262_144;

/**
 * A reference that stays one part of a path. Of dots alone it would name another path, and with other characters a
 * server could read more than one part.
 */
export const isSendable = (reference: string): boolean => /^(?!\.+$)[\w.:~-]{1,100}$/.test(reference);

/** The request of a lookup; undefined if the reference cannot be a part of it. */
export const lookupRequest = (
  { method, path, field }: LookupProfile,
  reference: string,
): UpstreamRequest | undefined => {
  if (!isSendable(reference)) return undefined;
  const request = { group: LOOKUP_GROUP, bytesMax: LOOKUP_BYTES_MAX, isQuestion: true } as const;
  if (field === undefined) return { ...request, path: path.replace(REFERENCE_PLACE, encodeURIComponent(reference)) };
  if (method === "POST") return { ...request, path, body: { [field]: reference } };
  return { ...request, path: `${path}?${new URLSearchParams({ [field]: reference })}` };
};

/** An order as the upstream describes it. What is absent or cannot be read is left out. */
export type FoundOrder = {
  readonly reference?: string;
  /** The reference that we gave the order. */
  readonly ourReference?: string;
  /** Absent if it is open, or if the word is unknown. */
  readonly status?: FinalStatus;
  readonly amountKobo?: Kobo;
  /** The service's word for it, where the profile knows the upstream's. */
  readonly type?: string;
  readonly phoneNumber?: string;
};

/** What the upstream answered. Only its own envelope says that it found an order, or that it knows none. */
export type LookupAnswer =
  | { readonly kind: "found"; readonly order: FoundOrder }
  | { readonly kind: "not_found" }
  /** No answer, or one that says nothing about an order: a limit, a refused key, an error, another server. */
  | { readonly kind: "unclear"; readonly reason: string }
  /** Nothing was sent. */
  | { readonly kind: "not_asked"; readonly reason: string };

const sentReference = z.catch(z.optional(reportedReference), undefined);

export const readLookup = (profile: UpstreamProfile, names: LookupProfile, result: ExchangeResult): LookupAnswer => {
  if (result.kind === "never_sent") return { kind: "not_asked", reason: result.reason };
  if (result.kind === "no_answer") return { kind: "unclear", reason: result.reason };
  const { status } = result;
  const body = responseBody.safeParse(bodyJson(result.body)).data;
  const sent = sentFields.safeParse(body?.data[names.transaction]).data;
  if (body === undefined || (sent === undefined && !isOfUpstream(result, body))) {
    return { kind: "unclear", reason: `unrecognized_${status}` };
  }
  if (sent === undefined) {
    const isUnknown = status === 404 || ((status === 200 || status === 400) && saysNotFound(body.message ?? ""));
    return body.status === false && isUnknown ? { kind: "not_found" } : { kind: "unclear", reason: `status_${status}` };
  }
  // An order in an answer that reports an error is no statement about it.
  if (status !== 200 || body.status !== true) return { kind: "unclear", reason: `status_${status}` };
  return { kind: "found", order: orderOf(profile, names, sent) };
};

const orderOf = (
  { statuses, events }: UpstreamProfile,
  names: LookupProfile,
  sent: Readonly<Record<string, unknown>>,
): FoundOrder => {
  const { [names.status]: word } = sent;
  const status = finalStatusOf(statuses, typeof word === "string" ? word.trim().toLowerCase() : "");
  const reference = sentReference.parse(sent[names.reference]);
  const ourReference = names.our_reference === undefined ? undefined : sentReference.parse(sent[names.our_reference]);
  const amountKobo = koboFromSentNaira(sent[names.amount]);
  const type = reportedFields.shape.type.parse(sent[names.type]);
  const phoneNumber = reportedFields.shape.phone.parse(sent[names.phone_number]);
  return {
    ...(reference !== undefined && { reference }),
    ...(ourReference !== undefined && { ourReference }),
    ...(status !== undefined && { status }),
    ...(amountKobo !== undefined && { amountKobo }),
    ...(type !== undefined && { type: maskedDigits(translated(events.types, type)) }),
    ...(phoneNumber !== undefined && { phoneNumber }),
  };
};
