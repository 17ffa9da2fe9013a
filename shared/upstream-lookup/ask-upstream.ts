import type { LookupFinding } from "../contract/actions/transactions.ts";
import { readableOpenTransactions } from "../ledger/find-transactions.ts";
import { BATCHES_AT_ONCE, keyBatches } from "../ledger/get-item.ts";
import type { Ledger, Table } from "../ledger/ledger.ts";
import { comparablePhone } from "../ledger/masked-transaction.ts";
import { ALL_TIMES, openKeys } from "../ledger/query-index.ts";
import {
  isIdentityCheck,
  isQueuedOrder,
  referenceOf,
  STUCK_MS,
  sentAt,
  type Transaction,
} from "../ledger/transaction.ts";
import { isExpectedAmount, type UpstreamCosts } from "../ledger/upstream-costs.ts";
import type { AnswerMessage } from "../orders/outcome-message.ts";
import type { OutcomeQueue } from "../orders/outcome-queue.ts";
import { type Deadline, deadlineWithin } from "../platform/deadline.ts";
import { type LogFields, log } from "../platform/log.ts";
import { mapInOrder } from "../platform/map-in-order.ts";
import { fromMovingStart } from "../platform/moving-start.ts";
import { sum } from "../platform/sum.ts";
import { isoTime } from "../platform/time.ts";
import { ASK_RESERVE_MS, LOOKUP_MS_MAX, READ_OPEN_MS_MAX, UPSTREAM_RESERVE_MS } from "../platform/time-budgets.ts";
import type { UpstreamReader } from "../upstream/live-upstream.ts";
import { type FoundOrder, isSendable, type LookupAnswer } from "../upstream/lookup.ts";
import { carriesReference, type UpstreamProfile } from "../upstream/profile.ts";
import { FIRST_QUESTION_MS, type LookupRecord, nextQuestionMs, noteAnswer, readLookups } from "./lookup-record.ts";

/** Questions of one run, which begins each minute. */
export const QUESTIONS_MAX = 20;
/** A run ends after this many answers in a row that say nothing: the upstream has an outage. */
const UNCLEAR_MAX = 3;

export type AskDeps = {
  readonly ledger: Ledger;
  readonly cache: Table;
  readonly outcomeQueue: OutcomeQueue;
  readonly costs: UpstreamCosts;
  readonly profile: UpstreamProfile;
  readonly reader: UpstreamReader;
};

/**
 * Asks the upstream for purchases that are open, the longest due first of those that were read. It settles nothing: an
 * answer that ends an order, or that a person must see, goes to the outcomes queue, and is applied as an event is. The
 * answer is noted after that, so that a run which dies between the two asks again.
 */
export const askUpstream = async (
  deps: AskDeps,
  deadline: Deadline,
): Promise<Omit<LogFields<"ask-upstream.ran">, "balance_read">> => {
  const { ledger, reader } = deps;
  const { lookUp } = reader;
  if (lookUp === undefined) return { open: 0, due: 0, asked: 0, ended: 0 };
  const nowMs = ledger.clock();
  const { first, ...counts } = await readDue(deps, nowMs, deadline);
  let [asked, ended, unclear] = [0, 0, 0];
  for (const { order, record } of first) {
    const mayAsk = unclear < UNCLEAR_MAX && reader.waitS() === 0;
    if (!mayAsk || deadline.remainingMs() < ASK_RESERVE_MS) break;
    const finding = await askFor(deps, lookUp, order, record, nowMs, deadline);
    if (finding === undefined) break;
    asked += 1;
    unclear = finding === "unclear" ? unclear + 1 : 0;
    if (finding === "success" || finding === "failed") ended += 1;
  }
  return { ...counts, asked, ended };
};

type Due = { readonly order: Transaction; readonly record: LookupRecord | undefined; readonly atMs: number };

/**
 * Reads the open orders in batches, and keeps those that have been due for the longest, as many as a run asks for. If there
 * is no time for all of them, those that were read count, and the next run begins with others.
 */
const readDue = async (deps: Pick<AskDeps, "ledger" | "cache" | "profile">, nowMs: number, deadline: Deadline) => {
  const { ledger, cache, profile } = deps;
  const readDeadline = deadlineWithin(deadline, READ_OPEN_MS_MAX, ledger.clock, ASK_RESERVE_MS);
  const keys = await openKeys(ledger, { from: ALL_TIMES.from, to: isoTime(nowMs - FIRST_QUESTION_MS) });
  const keysInTurn = fromMovingStart([...keyBatches(keys)], nowMs);
  const batches = mapInOrder(keysInTurn, BATCHES_AT_ONCE, async (batch) => {
    const open = (await readableOpenTransactions(ledger, batch)).filter((order) => canAsk(profile, order));
    return { keys: batch.length, open, records: await readLookups(cache, open) };
  });
  let [unread, open, due] = [sum(keysInTurn.map(({ length }) => length)), 0, 0];
  let first: readonly Due[] = [];
  for await (const batch of batches) {
    const dueNow = batch.open
      .map((order) => ({
        order,
        record: batch.records.get(order.pk),
        atMs: nextQuestionMs(order, batch.records.get(order.pk)),
      }))
      .filter(({ atMs }) => atMs <= nowMs);
    unread -= batch.keys;
    open += batch.open.length;
    due += dueNow.length;
    first = [...first, ...dueNow].sort((one, other) => one.atMs - other.atMs).slice(0, QUESTIONS_MAX);
    if (readDeadline.remainingMs() <= 0) break;
  }
  return { first, open, due, unread: unread > 0 ? unread : undefined };
};

/**
 * Whether the upstream can be asked for an order: it can be asked at all, and knows the order by a reference. A check
 * without a result is refunded by itself, and a queued order was not sent.
 */
export const canAsk = (profile: UpstreamProfile, order: Transaction): boolean =>
  profile.lookup !== undefined &&
  order.mode === "live" &&
  order.status === "processing" &&
  !isIdentityCheck(order) &&
  !isQueuedOrder(order) &&
  referenceAtUpstream(profile, order) !== undefined;

/** The reference by which the upstream can be asked: ours, where it was sent; else its own, if that is known. */
const referenceAtUpstream = (
  profile: UpstreamProfile,
  order: Pick<Transaction, "pk" | "type" | "mode" | "upstream_reference">,
): string | undefined => {
  const reference = carriesReference(profile, order.type) ? referenceOf(order) : order.upstream_reference;
  return reference !== undefined && isSendable(reference) ? reference : undefined;
};

/** Undefined if nothing could be sent: then neither can the next question, and this one is still due. */
const askFor = async (
  deps: AskDeps,
  lookUp: NonNullable<UpstreamReader["lookUp"]>,
  order: Transaction,
  record: LookupRecord | undefined,
  runMs: number,
  deadline: Deadline,
): Promise<LookupFinding | undefined> => {
  const { ledger, cache, outcomeQueue, profile } = deps;
  const reference = referenceAtUpstream(profile, order) ?? "";
  const answer = await lookUp(reference, questionDeadline(deadline));
  if (answer.kind === "not_asked") {
    log.warn("upstream.not_ready", { reason: answer.reason });
    return undefined;
  }
  const nowMs = ledger.clock();
  const { finding, details } = findingOf(deps, order, reference, answer);
  const message = messageOf(order, reference, answer, finding, nowMs);
  const isNew = finding === "success" || finding === "failed" || record?.escalated !== finding;
  const escalates = message !== undefined && isNew;
  if (escalates) await outcomeQueue.send(message, 0, deadline);
  log.info("upstream.asked", { reference: referenceOf(order), finding, details });
  await noteAnswer(
    cache,
    order,
    record,
    { finding, details, escalated: escalates ? finding : undefined },
    nowMs,
    runMs,
  );
  return finding;
};

/** The end of one question's time. */
export const questionDeadline = (deadline: Deadline): Deadline =>
  deadlineWithin(deadline, LOOKUP_MS_MAX + UPSTREAM_RESERVE_MS);

type Asked = Exclude<LookupAnswer, { readonly kind: "not_asked" }>;

/** What an answer means for the order that was asked for. */
const findingOf = (
  { costs }: Pick<AskDeps, "costs">,
  order: Transaction,
  asked: string,
  answer: Asked,
): { readonly finding: LookupFinding; readonly details?: string } => {
  if (answer.kind === "not_found") return { finding: "not_found" };
  if (answer.kind !== "found") return { finding: "unclear", details: answer.reason };
  const fits = comparison(costs, order, asked, answer.order);
  const fieldsThat = (is: boolean | undefined): string =>
    Object.entries(fits)
      .filter(([, fit]) => fit === is)
      .map(([field]) => field)
      .join(", ");
  const different = fieldsThat(false);
  if (different !== "") return { finding: "another_order", details: different };
  const { status } = answer.order;
  if (status === undefined) return { finding: "open" };
  const missing = fieldsThat(undefined);
  return missing === "" ? { finding: status } : { finding: "incomplete", details: missing };
};

/** Whether each field of an answer fits the order; undefined if the answer lacks it. */
const comparison = (
  costs: UpstreamCosts,
  order: Transaction,
  asked: string,
  { reference, ourReference, status, amountKobo, type, phoneNumber }: FoundOrder,
) => ({
  reference: reference === undefined ? undefined : knownReferences(order, asked, reference).includes(reference),
  our_reference: isBound(order, asked, { reference, ourReference, status }),
  type: type === undefined ? undefined : type === order.type,
  amount: amountKobo === undefined ? undefined : isExpectedAmount(costs, order, amountKobo),
  phone_number: phoneNumber === undefined ? undefined : phoneNumber === order.phone_number,
});

/**
 * Whether the answer is certainly about this order and no other one like it, which a refund needs: it has our reference,
 * or the upstream's, which was known before. Undefined if it has neither.
 */
const isBound = (
  order: Transaction,
  asked: string,
  { reference, ourReference, status }: Pick<FoundOrder, "reference" | "ourReference" | "status">,
): boolean | undefined => {
  if (ourReference !== undefined) return ourReference === referenceOf(order);
  if (status !== "failed" || reference === asked || reference === order.upstream_reference) return true;
  return undefined;
};

/** An order that was asked for by our reference may have any reference of the upstream until one is known. */
const knownReferences = (order: Transaction, asked: string, answered: string): readonly string[] => [
  asked,
  order.upstream_reference ?? answered,
];

/** The message for the outcomes queue: an outcome, or what a person must decide. */
const messageOf = (
  order: Transaction,
  asked: string,
  answer: Asked,
  finding: LookupFinding,
  nowMs: number,
): AnswerMessage | undefined => {
  const { pk, write_token, claim } = order;
  const target = { kind: "answer", mode: "live", transaction_pk: pk, write_token, claim } as const;
  // Before that the order may still be on its way, and no person need look at it.
  if (finding === "not_found" && nowMs - Date.parse(sentAt(order)) >= STUCK_MS)
    return { ...target, finding, reference: asked };
  if (answer.kind !== "found") return undefined;
  const { reference = asked, status, amountKobo, type, phoneNumber } = answer.order;
  if (status === undefined || (finding !== "success" && finding !== "failed" && finding !== "another_order"))
    return undefined;
  return {
    ...target,
    finding: finding === "another_order" ? finding : "outcome",
    event: {
      reference,
      status,
      ...(amountKobo !== undefined && { amount_kobo: amountKobo }),
      ...(type !== undefined && { type }),
      ...(phoneNumber !== undefined && { phone: { masked: comparablePhone(phoneNumber) } }),
    },
  };
};
