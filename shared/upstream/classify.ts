import * as z from "#zod";
import type { FinalStatus } from "../contract/final-status.ts";
import { reportedReference } from "../contract/upstream-event.ts";
import { koboFromSentNaira } from "../contract/values/money.ts";
import type { Answered, ExchangeResult } from "./exchange.ts";
import { finalStatusOf, type UpstreamProfile } from "./profile.ts";
import { statesRateLimit } from "./rate-limit.ts";
import {
  type CheckOutcome,
  ORDER_LIMITED,
  type OrderField,
  type Outcome,
  RATE_LIMITED,
  UPSTREAM_BALANCE,
  type UpstreamFacts,
} from "./upstream.ts";

/** Any JSON object. */
export const sentFields = z.looseObject({});
/** Lenient: another value in its place has no fields. */
const anyFields = z.catch(z._default(sentFields, {}), {});

/** Lenient: any JSON object is a body. */
export const responseBody = z.object({
  status: z.catch(z.optional(z.boolean()), undefined),
  message: z.catch(z.optional(z.string()), undefined),
  errors: anyFields,
  data: anyFields,
});
const sentResult = z.catch(z.optional(sentFields), undefined);
const sentReference = z.catch(z.optional(reportedReference), undefined);

/**
 * Whether no transaction is in an unexpected place: beside `data`, in a list, or as `data` itself. PHP encodes an empty
 * object as an empty list.
 */
const isPlain = (sent: unknown, { transaction, reference, status }: UpstreamProfile["answers"]): boolean => {
  const body = fieldsOf(sent) ?? {};
  if ([transaction, "transaction", "transactions"].some((name) => isPresent(body[name]))) return false;
  if (!isPresent(body.data) || (Array.isArray(body.data) && body.data.length === 0)) return true;
  const data = fieldsOf(body.data);
  const places = ["transaction", "transactions", "reference", "status", reference, status];
  return data !== undefined && !places.some((name) => name !== transaction && isPresent(data[name]));
};
const isPresent = (value: unknown): boolean => value !== undefined && value !== null;
const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> | undefined => sentFields.safeParse(value).data;

type ParsedBody = Omit<z.infer<typeof responseBody>, "data"> & {
  readonly transaction: ParsedTransaction | undefined;
  readonly result: Readonly<Record<string, unknown>> | undefined;
  /** All texts of the body, at any depth. */
  readonly texts: readonly string[];
  /** False if a transaction may be in another place than `data.transaction`. */
  readonly isPlain: () => boolean;
};

type ParsedTransaction = UpstreamFacts & {
  /** Only an explicit word for `failed` counts as failed. */
  readonly status: FinalStatus | undefined;
};

/** Reason of an `unknown` outcome: the upstream complains about our reference. */
export const DUPLICATE_REFERENCE = "duplicate_reference";
/** Begins the reason of an `unknown` outcome whose response is not the upstream's. */
const UNRECOGNIZED = "unrecognized_";

/**
 * Classifies the response to an order: the only place that decides between the kinds of an outcome. `fields` are the
 * order's fields, which a refusal may name.
 *
 * Only the upstream refuses an order, in its own envelope. Any other response may come from a firewall, a gateway or a
 * proxy, which may have passed the order on before.
 *
 * Precedence: some bodies override a refusal, because the order may have been delivered. These are a transaction that
 * is not `failed`, a duplicate reference (we never reuse one, so an earlier copy arrived), and wording that the order
 * is not finished. An explicit `failed` overrides the wording, but not `errors.reference`: it may describe the second
 * copy only. A message that the profile names refuses for certain, whatever its wording.
 */
export const classify = (profile: UpstreamProfile, result: ExchangeResult, fields: readonly OrderField[]): Outcome => {
  if (result.kind === "never_sent") return { kind: "account_error", reason: result.reason };
  if (result.kind === "no_answer") return { kind: "unknown", reason: result.reason };
  return classifyAnswer(profile, result, parseBody(profile, result.body), fields);
};

const classifyAnswer = (
  profile: UpstreamProfile,
  result: Answered,
  body: ParsedBody | undefined,
  fields: readonly OrderField[],
): Outcome => {
  const { status } = result;
  const { transaction } = body ?? {};
  const facts = factsOf(transaction);
  const unknown = (reason: string): Outcome => ({ kind: "unknown", reason, ...facts });
  const isFailed = transaction?.status === "failed";
  if (transaction !== undefined && !isFailed) {
    if (status !== 200 || !body?.status) return unknown(`transaction_in_${status}`);
    return transaction.status === "success" ? { kind: "delivered", ...facts } : unknown("processing");
  }
  const isEnvelope = body !== undefined && isOfUpstream(result, body);
  const isNamed = isEnvelope && isNamedRefusal(profile, status, body);
  const isRefusal =
    isEnvelope && (body.status === false || isFailed) && (isNamed || profile.refusals.statuses.includes(status));
  if (!isRefusal && !isOfLimiter(result)) {
    if (!isEnvelope && status < 500) return unknown(`${UNRECOGNIZED}${status}`);
    return unknown(status === 200 ? "missing_transaction" : `status_${status}`);
  }
  const errors = body?.errors ?? {};
  const texts = isNamed ? [] : (body?.texts ?? [result.body]);
  if (Object.hasOwn(errors, profile.fields.reference) || (!isFailed && texts.some(saysDuplicate))) {
    return unknown(DUPLICATE_REFERENCE);
  }
  if (body?.isPlain() === false) return unknown("transaction_elsewhere");
  if (status === 429) {
    return { kind: "account_error", reason: result.isAboutOrder ? ORDER_LIMITED : RATE_LIMITED, ...facts };
  }
  // The upstream checks our key and address before the order.
  if (status === 401 || status === 403) return { kind: "account_error", reason: `status_${status}`, ...facts };
  if (texts.some(saysInsufficient)) return { kind: "account_error", reason: UPSTREAM_BALANCE, ...facts };
  if (!isFailed && texts.some(saysUnfinished)) return unknown("unfinished");
  if (texts.some(mentionsBalance)) return { kind: "account_error", reason: UPSTREAM_BALANCE, ...facts };
  // An upstream may answer 200 with the error inside.
  const namesFields = status === 422 || status === 200;
  const refused = namesFields ? fields.filter((field) => Object.hasOwn(errors, profile.fields[field])) : [];
  return { kind: "refused", fields: refused, ...facts };
};

/**
 * Whether the body is the upstream's envelope. Where the message is missing, a refusal must have the limit's headers,
 * which every answer of the upstream has (docs/interface.md 6.3).
 */
export const isOfUpstream = (result: Answered, { status, message }: Pick<ParsedBody, "status" | "message">): boolean =>
  status !== undefined && (message !== undefined || (!status && statesRateLimit(result)));

const isNamedRefusal = ({ refusals }: UpstreamProfile, status: number, { message = "" }: ParsedBody): boolean =>
  refusals.messages.some((each) => each.status === status && wordOf(each.message) === wordOf(message));

/** A 429 that states the upstream's rate limit, in whatever body: the upstream checks its limit before the order. */
const isOfLimiter = (result: Answered): boolean => result.status === 429 && statesRateLimit(result);

/**
 * Whether the response is not the upstream's: the base URL is wrong, or something in front of the upstream answered.
 */
export const isUnrecognized = (outcome: Outcome | CheckOutcome): boolean =>
  outcome.kind === "unknown" && isUnrecognizedReason(outcome.reason);

export const isUnrecognizedReason = (reason: string): boolean => reason.startsWith(UNRECOGNIZED);

/**
 * Classifies the response to an identity check. A record counts as found even while the upstream's transaction is still
 * processing. Only the upstream can say that there is no record: the 404 of a gateway, or of a wrong base URL, says
 * nothing about the person.
 */
export const classifyCheck = (
  profile: UpstreamProfile,
  result: ExchangeResult,
  fields: readonly OrderField[],
): CheckOutcome => {
  if (result.kind !== "answered") return withoutRecord(classify(profile, result, fields));
  const body = parseBody(profile, result.body);
  const outcome = classifyAnswer(profile, result, body, fields);
  const facts = factsOf(body?.transaction);
  if (outcome.kind === "refused" && (result.status === 404 || saysNotFound(body?.message ?? ""))) {
    return { kind: "no_record", ...facts };
  }
  const record = body?.result;
  const isFound = result.status === 200 && body?.status === true && record !== undefined;
  const isRefused = outcome.kind === "refused" || outcome.kind === "account_error";
  return isFound && !isRefused ? { kind: "found", record, ...facts } : withoutRecord(outcome);
};

/** The upstream reports a delivery without a result. */
const withoutRecord = (outcome: Outcome): CheckOutcome =>
  outcome.kind === "delivered" ? { ...outcome, kind: "unknown", reason: "missing_result" } : outcome;

export const saysNotFound = (message: string): boolean => /\b(not found|no record)\b/i.test(message);

/** Wording for an order that arrived before. A mere mention of the reference is not enough. */
const saysDuplicate = (message: string): boolean =>
  /\bduplicat/i.test(message) ||
  (/\b(reference|ref|transaction|order|request)\b/i.test(message) &&
    /\b(already|(?<!not )(been|was) (used|taken|processed)|in use|exists|(must be|not) unique)\b/i.test(message));

/** Wording for an order that may still be delivered. */
const saysUnfinished = (message: string): boolean =>
  /\b(pending|processing|in[- ]pro(gress|cess)|being processed|queued?|tim(ed|e)[- ]?out|awaiting|not (yet )?confirmed)\b/i.test(
    message,
  );

const saysInsufficient = (message: string): boolean => /\b(insufficient|not enough)\b/i.test(message);

const mentionsBalance = (message: string): boolean => /\b(balance|fund)/i.test(message);

const factsOf = ({ upstreamReference, upstreamAmountKobo }: UpstreamFacts = {}): UpstreamFacts => ({
  ...(upstreamReference !== undefined && { upstreamReference }),
  ...(upstreamAmountKobo !== undefined && { upstreamAmountKobo }),
});

const parseBody = (profile: UpstreamProfile, text: string): ParsedBody | undefined => {
  try {
    // `trim` also removes a byte order mark.
    const sent: unknown = JSON.parse(text.trim());
    const parsed = responseBody.safeParse(sent).data;
    if (parsed === undefined) return undefined;
    const { data, ...body } = parsed;
    const { answers } = profile;
    return {
      ...body,
      transaction: parseTransaction(profile, data[answers.transaction]),
      result: sentResult.parse(data[answers.result]),
      texts: textsIn(sent),
      isPlain: () => isPlain(sent, answers),
    };
  } catch {
    return undefined;
  }
};

/** Lenient: any value counts as a transaction, and a field that cannot be read is left out. */
const parseTransaction = ({ answers, statuses }: UpstreamProfile, sent: unknown): ParsedTransaction | undefined => {
  if (!isPresent(sent)) return undefined;
  const { [answers.reference]: reference, [answers.status]: status, [answers.amount]: amount } = anyFields.parse(sent);
  const word = typeof status === "string" ? wordOf(status) : "";
  return {
    status: finalStatusOf(statuses, word),
    ...factsOf({ upstreamReference: sentReference.parse(reference), upstreamAmountKobo: koboFromSentNaira(amount) }),
  };
};

const wordOf = (text: string): string => text.trim().toLowerCase();

/** Longer texts are photos and pages, not messages about an order. */
const TEXT_LENGTH_MAX = 1_000;

const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string") return value.length > TEXT_LENGTH_MAX ? [] : [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
};
