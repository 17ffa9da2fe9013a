import * as z from "zod";
import { upstreamReferenceSchema } from "../contract/upstream-event.ts";
import { koboFromSentNaira } from "../platform/money.ts";
import type { Exchange } from "./exchange.ts";
import {
  type CheckOutcome,
  type OrderField,
  type Outcome,
  RATE_LIMITED,
  UNRECOGNIZED_404,
  type UpstreamFacts,
} from "./upstream.ts";

/** A transaction in an answer. Whatever stands in its place counts as one, and one that does not say `failed` is not failed. */
const answeredTransaction = z
  .object({
    reference: upstreamReferenceSchema.optional().catch(undefined),
    status: z.string().optional().catch(undefined),
    amount: z.unknown().optional(),
  })
  .catch({});

/** An answer's body as far as we read it. Any JSON object is one: what cannot be read is left out, and no more than that. */
const answerBody = z.object({
  status: z.boolean().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
  errors: z.record(z.string(), z.unknown()).catch({}),
  data: z
    .object({
      result: z.record(z.string(), z.unknown()).optional().catch(undefined),
      transaction: answeredTransaction.nullish(),
    })
    .catch({}),
});

/**
 * A body in which a transaction cannot stand where it is not looked for: beside `data`, in a list, or as `data` itself. PHP writes
 * an object without fields as an empty list.
 */
const absent = z.null().optional();
const plainBody = z.object({
  transaction: absent,
  transactions: absent,
  data: z.union([z.looseObject({ reference: absent, status: absent, transactions: absent }), z.tuple([])]).nullish(),
});

type AnswerBody = z.infer<typeof answerBody> & {
  /** Every text of the body, wherever it stands. */
  readonly texts: readonly string[];
  /** False where a transaction may stand in another place than `data.transaction`. */
  readonly isPlain: boolean;
};

/** Statuses that mean: refused, and nothing was done. Everything that is not here, and not 200, is unknown. */
const REFUSING = new Set([400, 401, 403, 404, 405, 413, 415, 422, 429]);
/** Refusals whose cause is our key, our address or our limit: the upstream's gate gives them before an order begins. */
const ACCOUNT_ERRORS = new Set([401, 403, 429]);
/** Refusals that a gateway or a router gives too, for a request that it does not pass on to the application. */
const GATEWAY = new Set([404, 405, 413, 415]);
/** Reason of an `unknown` outcome: a refusing status whose body may hide that the order was delivered. */
const UNREADABLE_BODY = "unreadable_body";

/**
 * What an answer to an order means. The one place that decides between delivered, refused, ours and unknown. `fields` are the
 * order's own, which a refusal may name.
 *
 * Some bodies outweigh a refusal's status, because the order may have been delivered: a transaction that is not `failed`, a
 * duplicate reference (we never use one twice, so that a first copy arrived), wording that says that the order is not finished. An
 * explicit `failed` outweighs wording, but not `errors.reference`: it may describe the second copy only.
 *
 * A body that cannot be read may hold any of these. Then the status alone refuses only where the application never saw the order.
 */
export const classify = (result: Exchange, fields: readonly OrderField[]): Outcome => {
  if (result.kind === "never_sent") return { kind: "account_error", reason: result.reason };
  if (result.kind === "no_answer") return { kind: "unknown", reason: result.reason };

  const { status } = result;
  const text = textOf(result);
  const body = parsedBody(text);
  const transaction = body?.data.transaction ?? undefined;
  const facts = factsOf(transaction);
  if (transaction !== undefined && transaction.status !== "failed") {
    if (status !== 200 || !body?.status) return { kind: "unknown", reason: `transaction_in_${status}`, ...facts };
    if (transaction.status === "success") return { kind: "delivered", ...facts };
    return { kind: "unknown", reason: "processing", ...facts };
  }
  const isRefusal = status === 200 ? body?.status === false || transaction !== undefined : REFUSING.has(status);
  if (!isRefusal) {
    return { kind: "unknown", reason: status === 200 ? "missing_transaction" : `status_${status}`, ...facts };
  }
  const isFailed = transaction !== undefined;
  const namesReference = body !== undefined && Object.hasOwn(body.errors, "reference");
  const texts = body?.texts ?? [text];
  if (namesReference || (!isFailed && texts.some(saysDuplicate))) {
    return { kind: "unknown", reason: "duplicate_reference", ...facts };
  }
  if (ACCOUNT_ERRORS.has(status))
    return { kind: "account_error", reason: status === 429 ? RATE_LIMITED : `status_${status}`, ...facts };
  if (body === undefined) {
    const isUnseen = text === "" || (GATEWAY.has(status) && isGatewayPage(text, result.headers["content-type"]));
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
 * What an answer to an identity check means: the record, that there is none, or why there is no answer. A record counts even if
 * the upstream is still busy with its own transaction: it is what was asked for. Only the upstream's own envelope can say that
 * there is no record: a 404 of a gateway, or of a wrong address, says nothing about the person.
 */
export const classifyCheck = (result: Exchange, fields: readonly OrderField[]): CheckOutcome => {
  const outcome = classify(result, fields);
  if (result.kind !== "answered") return withoutRecord(outcome);
  const body = parsedBody(textOf(result));
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

/** Delivered, the upstream says, but what it delivered is not there. */
const withoutRecord = (outcome: Outcome): CheckOutcome =>
  outcome.kind === "delivered" ? { ...outcome, kind: "unknown", reason: "missing_result" } : outcome;

const saysNotFound = (message: string): boolean => /\b(not found|no record)\b/i.test(message);

/** Wording that says that the order arrived before. A message that merely mentions the reference does not say so. */
const saysDuplicate = (message: string): boolean =>
  /\bduplicat/i.test(message) ||
  (/\b(reference|ref|transaction|order|request)\b/i.test(message) &&
    /\b(already|(?<!not )(been|was) (used|taken|processed)|in use|exists|(must be|not) unique)\b/i.test(message));

/** Wording that says that the order may yet be delivered. */
const saysUnfinished = (message: string): boolean =>
  /\b(pending|processing|in[- ]pro(gress|cess)|being processed|queued?|tim(ed|e)[- ]?out|awaiting|not (yet )?confirmed)\b/i.test(
    message,
  );

/** Whether a text is a page of a gateway or router: not compressed, not JSON nor a part of it, and not about a transaction. */
const isGatewayPage = (text: string, mediaType = ""): boolean =>
  !/json/i.test(mediaType) &&
  !/[^\P{Cc}\t\r\n]/u.test(text) &&
  !/^["{[]|(["']|&#?\w{1,6};)\s*:/.test(text) &&
  !/\btransaction\b/i.test(text) &&
  !saysUnfinished(text);

const saysInsufficient = (message: string): boolean => /\b(insufficient|not enough)\b/i.test(message);

const mentionsBalance = (message: string): boolean => /\b(balance|fund)/i.test(message);

const factsOf = (transaction: z.infer<typeof answeredTransaction> | undefined): UpstreamFacts => {
  const amountKobo = koboFromSentNaira(transaction?.amount);
  return {
    ...(transaction?.reference !== undefined && { upstreamReference: transaction.reference }),
    ...(amountKobo !== undefined && { upstreamAmountKobo: amountKobo }),
  };
};

/** A body without the blanks around it; a byte order mark is one of them. */
const textOf = ({ body }: Extract<Exchange, { kind: "answered" }>): string => body.trim();

const parsedBody = (text: string): AnswerBody | undefined => {
  try {
    const sent: unknown = JSON.parse(text);
    const { data } = answerBody.safeParse(sent);
    return data && { ...data, texts: textsIn(sent), isPlain: plainBody.safeParse(sent).success };
  } catch {
    return undefined;
  }
};

/** Longer texts are photos and pages, and no sentence about an order. */
const TEXT_LENGTH_MAX = 1_000;

const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string") return value.length > TEXT_LENGTH_MAX ? [] : [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
};
