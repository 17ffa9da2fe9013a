import * as z from "zod";
import { type Kobo, koboFromNaira } from "../platform/money.ts";
import type { Exchange } from "./exchange.ts";
import { type CheckOutcome, type Outcome, orderFields, type UpstreamFacts } from "./provider.ts";

/** An answer's body as far as we read it: only the status of an envelope must be there. */
const answerBody = z.object({
  status: z.boolean(),
  message: z.string().catch(""),
  errors: z.record(z.string(), z.unknown()).catch({}),
  data: z
    .object({
      result: z.record(z.string(), z.unknown()).optional().catch(undefined),
      transaction: z
        .object({
          reference: z.string().min(1).max(100).optional().catch(undefined),
          status: z.string(),
          amount: z.number().optional().catch(undefined),
        })
        .optional()
        .catch(undefined),
    })
    .optional()
    .catch(undefined),
});
type AnswerBody = z.infer<typeof answerBody>;

/** Statuses that mean: refused, and nothing was done. Everything that is not here, and not 200, is unknown. */
const DEFINITE = new Set([400, 401, 403, 404, 405, 413, 415, 422]);
/** Refusals whose cause is our key, our address or our limit. */
const OURS = new Set([401, 403, 429]);

/**
 * What an answer to an order means. The one place that decides between delivered, refused, ours and unknown.
 *
 * A body that holds a transaction which is not `failed`, or that complains about the reference, outweighs a refusal's status:
 * we never use a reference twice, so that a duplicate means that a first copy arrived.
 */
export const classify = (result: Exchange): Outcome => {
  if (result.kind === "never_sent") return { kind: "ours", reason: result.reason };
  if (result.kind === "no_answer") return { kind: "unknown", reason: result.reason };

  const { status } = result;
  const body = parsedBody(result.body);
  const transaction = body?.data?.transaction;
  const facts = factsOf(transaction);
  if (transaction !== undefined && transaction.status !== "failed") {
    if (status !== 200 || !body?.status) return { kind: "unknown", reason: `transaction_in_${status}`, ...facts };
    if (transaction.status === "success") return { kind: "delivered", ...facts };
    return { kind: "unknown", reason: "processing", ...facts };
  }
  if (status === 200) return judgeOk(body, transaction !== undefined, facts);
  if (!DEFINITE.has(status) && status !== 429) return { kind: "unknown", reason: `status_${status}` };
  if (body !== undefined && complainsOfReference(body)) return { kind: "unknown", reason: "duplicate_reference" };
  if (OURS.has(status)) return { kind: "ours", reason: `status_${status}` };
  if (status === 400 && isOurBalance(body)) return { kind: "ours", reason: "upstream_balance" };
  return { kind: "refused", fields: status === 422 ? blamedFields(body) : [], ...facts };
};

/**
 * What an answer to an identity check means: the record, that there is none, or why there is no answer. A record counts even if
 * the upstream is still busy with its own transaction: it is what was asked for.
 */
export const classifyCheck = (result: Exchange): CheckOutcome => {
  const body = result.kind === "answered" ? parsedBody(result.body) : undefined;
  const record = body?.status ? body.data?.result : undefined;
  const outcome = classify(result);
  const facts = factsOf(body?.data?.transaction);
  if (result.kind === "answered" && result.status === 200 && record !== undefined) {
    return outcome.kind === "refused" ? { ...outcome, ...facts } : { kind: "found", record, ...facts };
  }
  if (outcome.kind === "refused" && body !== undefined && saysNoRecord(result, body))
    return { kind: "no_record", ...facts };
  return outcome.kind === "delivered" ? { kind: "unknown", reason: "missing_result", ...facts } : outcome;
};

/** A 404 in the envelope, or a 200 with status false whose message says so. */
const saysNoRecord = (result: Exchange, { message }: AnswerBody): boolean =>
  result.kind === "answered" && (result.status === 404 || /\b(not found|no record)\b/i.test(message));

/** A 200 whose transaction is absent or `failed`. */
const judgeOk = (body: AnswerBody | undefined, hasFailed: boolean, facts: UpstreamFacts): Outcome => {
  if (body === undefined) return { kind: "unknown", reason: "not_an_envelope" };
  if (hasFailed) return { kind: "refused", fields: [], ...facts };
  if (body.status) return { kind: "unknown", reason: "missing_transaction" };
  if (complainsOfReference(body)) return { kind: "unknown", reason: "duplicate_reference" };
  if (isOurBalance(body)) return { kind: "ours", reason: "upstream_balance" };
  return { kind: "refused", fields: [] };
};

const complainsOfReference = ({ errors, message }: AnswerBody): boolean =>
  Object.hasOwn(errors, "reference") || /\b(reference|duplicate)\b/i.test(message);

const isOurBalance = (body: AnswerBody | undefined): boolean =>
  body !== undefined && /\b(balance|insufficient|fund)/i.test(body.message);

const blamedFields = (body: AnswerBody | undefined) =>
  orderFields.filter((field) => body !== undefined && Object.hasOwn(body.errors, field));

type AnsweredTransaction = NonNullable<AnswerBody["data"]>["transaction"];

const factsOf = (transaction: AnsweredTransaction | undefined): UpstreamFacts => {
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
