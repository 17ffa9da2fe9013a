import * as z from "zod";
import { type Kobo, koboFromNaira } from "../platform/money.ts";
import type { Exchange } from "./exchange.ts";
import { type CheckOutcome, type OrderField, type Outcome, RATE_LIMITED, type UpstreamFacts } from "./provider.ts";

/** A transaction in an answer. Whatever stands in its place counts as one, and one that does not say `failed` is not failed. */
const answeredTransaction = z
  .object({
    reference: z.string().min(1).max(100).optional().catch(undefined),
    status: z.string().optional().catch(undefined),
    amount: z.number().optional().catch(undefined),
  })
  .catch({});

/** An answer's body as far as we read it. Any JSON object is one: what cannot be read is left out, and no more than that. */
const answerBody = z.object({
  status: z.boolean().optional().catch(undefined),
  message: z.string().catch(""),
  errors: z.record(z.string(), z.unknown()).catch({}),
  data: z
    .object({
      result: z.record(z.string(), z.unknown()).optional().catch(undefined),
      transaction: answeredTransaction.nullish(),
    })
    .catch({}),
});
type AnswerBody = z.infer<typeof answerBody>;

/** Statuses that mean: refused, and nothing was done. Everything that is not here, and not 200, is unknown. */
const REFUSING = new Set([400, 401, 403, 404, 405, 413, 415, 422, 429]);
/** Refusals whose cause is our key, our address or our limit. */
const OURS = new Set([401, 403, 429]);

/**
 * What an answer to an order means. The one place that decides between delivered, refused, ours and unknown. `fields` are the
 * order's own, which a refusal may name.
 *
 * A body that holds a transaction which is not `failed`, or that complains about the reference, outweighs a refusal's status:
 * we never use a reference twice, so that a duplicate means that a first copy arrived.
 */
export const classify = (result: Exchange, fields: readonly OrderField[]): Outcome => {
  if (result.kind === "never_sent") return { kind: "ours", reason: result.reason };
  if (result.kind === "no_answer") return { kind: "unknown", reason: result.reason };

  const { status } = result;
  const body = parsedBody(result.body);
  const transaction = body?.data.transaction ?? undefined;
  const facts = factsOf(transaction);
  if (transaction !== undefined && transaction.status !== "failed") {
    if (status !== 200 || !body?.status) return { kind: "unknown", reason: `transaction_in_${status}`, ...facts };
    if (transaction.status === "success") return { kind: "delivered", ...facts };
    return { kind: "unknown", reason: "processing", ...facts };
  }
  const isRefusal = status === 200 ? body?.status === false || transaction !== undefined : REFUSING.has(status);
  if (!isRefusal) return { kind: "unknown", reason: status === 200 ? "missing_transaction" : `status_${status}` };
  if (body !== undefined && complainsOfReference(body)) return { kind: "unknown", reason: "duplicate_reference" };
  if (OURS.has(status)) return { kind: "ours", reason: status === 429 ? RATE_LIMITED : `status_${status}` };
  if (body !== undefined && isOurBalance(body)) return { kind: "ours", reason: "upstream_balance" };
  return {
    kind: "refused",
    fields: status === 422 && body !== undefined ? fields.filter((field) => Object.hasOwn(body.errors, field)) : [],
    ...facts,
  };
};

/**
 * What an answer to an identity check means: the record, that there is none, or why there is no answer. A record counts even if
 * the upstream is still busy with its own transaction: it is what was asked for.
 */
export const classifyCheck = (result: Exchange, fields: readonly OrderField[]): CheckOutcome => {
  const outcome = classify(result, fields);
  const body = result.kind === "answered" ? parsedBody(result.body) : undefined;
  if (body === undefined || result.kind !== "answered") return withoutRecord(outcome);
  const { result: record, transaction } = body.data;
  const facts = factsOf(transaction ?? undefined);
  if (outcome.kind === "refused" && saysNoRecord(result.status, body)) return { kind: "no_record", ...facts };
  const isFound = result.status === 200 && body.status === true && record !== undefined;
  const isRefused = outcome.kind === "refused" || outcome.kind === "ours";
  return isFound && !isRefused ? { kind: "found", record, ...facts } : withoutRecord(outcome);
};

/** Delivered, the upstream says, but what it delivered is not there. */
const withoutRecord = (outcome: Outcome): CheckOutcome =>
  outcome.kind === "delivered" ? { ...outcome, kind: "unknown", reason: "missing_result" } : outcome;

/** A 404 in the envelope, or a refusal whose message says so. */
const saysNoRecord = (status: number, { message }: AnswerBody): boolean =>
  status === 404 || /\b(not found|no record)\b/i.test(message);

const complainsOfReference = ({ errors, message }: AnswerBody): boolean =>
  Object.hasOwn(errors, "reference") || /\b(reference|duplicate)\b/i.test(message);

const isOurBalance = ({ message }: AnswerBody): boolean => /\b(balance|insufficient|fund)/i.test(message);

const factsOf = (transaction: z.infer<typeof answeredTransaction> | undefined): UpstreamFacts => {
  const amountKobo = transaction?.amount === undefined ? undefined : toKobo(transaction.amount);
  return {
    ...(transaction?.reference !== undefined && { upstreamReference: transaction.reference }),
    ...(amountKobo !== undefined && { upstreamAmountKobo: amountKobo }),
  };
};

const toKobo = (amount: number): Kobo | undefined => {
  try {
    return koboFromNaira(amount);
  } catch {
    return undefined;
  }
};

const parsedBody = (text: string): AnswerBody | undefined => {
  try {
    return answerBody.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};
