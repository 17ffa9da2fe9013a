import * as z from "zod";
import { upstreamReferenceSchema } from "../contract/upstream-event.ts";
import { koboFromSentNaira } from "../platform/money.ts";
import type { ExchangeResult } from "./exchange.ts";
import {
  type CheckOutcome,
  type OrderField,
  type Outcome,
  RATE_LIMITED,
  UNRECOGNIZED_404,
  type UpstreamFacts,
} from "./upstream.ts";

/** Lenient: any value in its place counts as a transaction, and only an explicit `failed` counts as failed. */
const transactionInResponse = z
  .object({
    reference: upstreamReferenceSchema.optional().catch(undefined),
    status: z.string().optional().catch(undefined),
    amount: z.unknown().optional(),
  })
  .catch({});

/** Lenient: any JSON object is a body, and a field that cannot be read is left out. */
const responseBody = z.object({
  status: z.boolean().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
  errors: z.record(z.string(), z.unknown()).catch({}),
  data: z
    .object({
      result: z.record(z.string(), z.unknown()).optional().catch(undefined),
      transaction: transactionInResponse.nullish(),
    })
    .catch({}),
});

/**
 * A body without a transaction in an unexpected place: beside `data`, in a list, or as `data` itself. PHP encodes an
 * empty object as an empty list.
 */
const absent = z.null().optional();
const plainBody = z.object({
  transaction: absent,
  transactions: absent,
  data: z.union([z.looseObject({ reference: absent, status: absent, transactions: absent }), z.tuple([])]).nullish(),
});

type ParsedBody = z.infer<typeof responseBody> & {
  /** All texts of the body, at any depth. */
  readonly texts: readonly string[];
  /** False if a transaction may be in another place than `data.transaction`. */
  readonly isPlain: boolean;
};

/** Statuses of refusals: nothing was done. Every other status but 200 is unknown. */
const REFUSAL_STATUSES = new Set([400, 401, 403, 404, 405, 413, 415, 422, 429]);
/** Refusals caused by our key, address or limit, which the upstream checks before the order. */
const ACCOUNT_ERROR_STATUSES = new Set([401, 403, 429]);
/** Refusals that may come from a gateway or router, which then does not forward the request. */
const GATEWAY_STATUSES = new Set([404, 405, 413, 415]);
/** Reason of an `unknown` outcome: the status refuses, but the body may report a delivery. */
const UNREADABLE_BODY = "unreadable_body";

/**
 * Classifies the response to an order: the only place that decides between the kinds of an outcome. `fields` are the
 * order's fields, which a refusal may name.
 *
 * Precedence: some bodies override the status of a refusal, because the order may have been delivered. These are a
 * transaction that is not `failed`, a duplicate reference (we never reuse one, so an earlier copy arrived), and wording
 * that the order is not finished. An explicit `failed` overrides the wording, but not `errors.reference`: it may
 * describe the second copy only.
 *
 * A body that cannot be read may be any of these. Then the status refuses only if the application never received the
 * order.
 */
export const classify = (result: ExchangeResult, fields: readonly OrderField[]): Outcome => {
  if (result.kind === "never_sent") return { kind: "account_error", reason: result.reason };
  if (result.kind === "no_answer") return { kind: "unknown", reason: result.reason };

  const { status } = result;
  const text = textOf(result);
  const body = parseBody(text);
  const transaction = body?.data.transaction ?? undefined;
  const facts = factsOf(transaction);
  if (transaction !== undefined && transaction.status !== "failed") {
    if (status !== 200 || !body?.status) return { kind: "unknown", reason: `transaction_in_${status}`, ...facts };
    if (transaction.status === "success") return { kind: "delivered", ...facts };
    return { kind: "unknown", reason: "processing", ...facts };
  }
  const isRefusal = status === 200 ? body?.status === false || transaction !== undefined : REFUSAL_STATUSES.has(status);
  if (!isRefusal) {
    return { kind: "unknown", reason: status === 200 ? "missing_transaction" : `status_${status}`, ...facts };
  }
  const isFailed = transaction !== undefined;
  const namesReference = body !== undefined && Object.hasOwn(body.errors, "reference");
  const texts = body?.texts ?? [text];
  if (namesReference || (!isFailed && texts.some(saysDuplicate))) {
    return { kind: "unknown", reason: "duplicate_reference", ...facts };
  }
  if (ACCOUNT_ERROR_STATUSES.has(status))
    return { kind: "account_error", reason: status === 429 ? RATE_LIMITED : `status_${status}`, ...facts };
  if (body === undefined) {
    const isUnseen =
      text === "" || (GATEWAY_STATUSES.has(status) && isGatewayPage(text, result.headers["content-type"]));
    return isUnseen ? { kind: "refused", fields: [] } : { kind: "unknown", reason: UNREADABLE_BODY };
  }
  if (!body.isPlain) return { kind: "unknown", reason: UNREADABLE_BODY };
  if (texts.some(saysInsufficient)) return { kind: "account_error", reason: "upstream_balance", ...facts };
  if (!isFailed && texts.some(saysUnfinished)) return { kind: "unknown", reason: "unfinished" };
  if (texts.some(mentionsBalance)) return { kind: "account_error", reason: "upstream_balance", ...facts };
  return {
    kind: "refused",
    fields: status === 422 ? fields.filter((field) => Object.hasOwn(body.errors, field)) : [],
    ...facts,
  };
};

/**
 * Classifies the response to an identity check. A record counts as found even while the upstream's transaction is still
 * processing. Only the upstream's envelope can report that there is no record: a 404 of a gateway, or of a wrong base
 * URL, says nothing about the person.
 */
export const classifyCheck = (result: ExchangeResult, fields: readonly OrderField[]): CheckOutcome => {
  const outcome = classify(result, fields);
  if (result.kind !== "answered") return withoutRecord(outcome);
  const body = parseBody(textOf(result));
  const facts = factsOf(body?.data.transaction ?? undefined);
  const isUnreadable = outcome.kind === "unknown" && outcome.reason === UNREADABLE_BODY;
  if ((outcome.kind === "refused" || isUnreadable) && (result.status === 404 || saysNotFound(body?.message ?? ""))) {
    const isEnvelope = body?.status === false && body.message !== undefined;
    return isEnvelope ? { kind: "no_record", ...facts } : { kind: "unknown", reason: UNRECOGNIZED_404, ...facts };
  }
  if (body === undefined) return withoutRecord(outcome);
  const { result: record } = body.data;
  const isFound = result.status === 200 && body.status === true && record !== undefined;
  const isRefused = outcome.kind === "refused" || outcome.kind === "account_error";
  return isFound && !isRefused ? { kind: "found", record, ...facts } : withoutRecord(outcome);
};

/** The upstream reports a delivery without a result. */
const withoutRecord = (outcome: Outcome): CheckOutcome =>
  outcome.kind === "delivered" ? { ...outcome, kind: "unknown", reason: "missing_result" } : outcome;

const saysNotFound = (message: string): boolean => /\b(not found|no record)\b/i.test(message);

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

/**
 * Whether a text is an error page of a gateway or router: not binary, not JSON or a part of it, and not about a
 * transaction.
 */
const isGatewayPage = (text: string, mediaType = ""): boolean =>
  !/json/i.test(mediaType) &&
  !/[^\P{Cc}\t\r\n]/u.test(text) &&
  !/^["{[]|(["']|&#?\w{1,6};)\s*:/.test(text) &&
  !/\btransaction\b/i.test(text) &&
  !saysUnfinished(text);

const saysInsufficient = (message: string): boolean => /\b(insufficient|not enough)\b/i.test(message);

const mentionsBalance = (message: string): boolean => /\b(balance|fund)/i.test(message);

const factsOf = (transaction: z.infer<typeof transactionInResponse> | undefined): UpstreamFacts => {
  const amountKobo = koboFromSentNaira(transaction?.amount);
  return {
    ...(transaction?.reference !== undefined && { upstreamReference: transaction.reference }),
    ...(amountKobo !== undefined && { upstreamAmountKobo: amountKobo }),
  };
};

/** `trim` also removes a byte order mark. */
const textOf = ({ body }: Extract<ExchangeResult, { kind: "answered" }>): string => body.trim();

const parseBody = (text: string): ParsedBody | undefined => {
  try {
    const sent: unknown = JSON.parse(text);
    const { data } = responseBody.safeParse(sent);
    return data && { ...data, texts: textsIn(sent), isPlain: plainBody.safeParse(sent).success };
  } catch {
    return undefined;
  }
};

/** Longer texts are photos and pages, not messages about an order. */
const TEXT_LENGTH_MAX = 1_000;

const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string") return value.length > TEXT_LENGTH_MAX ? [] : [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
};
