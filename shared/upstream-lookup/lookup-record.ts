import * as z from "#zod";
import { type LookupFinding, lookupFindings } from "../contract/actions/transactions.ts";
import { HOUR_MS, MINUTE_MS } from "../contract/values/durations.ts";
import { getItem, getItemsByPk } from "../ledger/get-item.ts";
import type { Table } from "../ledger/ledger.ts";
import { transactionIdOf } from "../ledger/schema.ts";
import { sentAt, type Transaction } from "../ledger/transaction.ts";
import { setParts, updateOf } from "../ledger/update-parts.ts";
import { retryContention } from "../platform/backoff.ts";
import { cachePk } from "../platform/cache-keys.ts";
import { EPOCH, isoTime } from "../platform/time.ts";

/** From when an order was sent to the first question about it: its own request has ended by then. */
export const FIRST_QUESTION_MS = MINUTE_MS;
const INTERVAL_MS_MAX = 6 * HOUR_MS;
/** Runs begin this far apart: a question is sent at most this late, unless the runs are behind. */
const RUN_EVERY_MS = MINUTE_MS;
/** From the last question to the end of a record. */
const KEPT_S = 90 * 86_400;

/**
 * When the upstream is asked for an open order next, and what it answered last: an item of the cache table. An order
 * without one was never asked for. It decides only when a question is sent, so losing it costs a question and no money.
 */
export const lookupRecordSchema = z.object({
  pk: z.string(),
  next_at: z.iso.datetime(),
  /** How often the upstream was asked. */
  asked: z._default(z.int().check(z.minimum(0)), 0),
  asked_at: z.optional(z.iso.datetime()),
  finding: z.optional(z.enum(lookupFindings)),
  /** What was missing or different, or why there is no clear answer. */
  details: z.optional(z.string()),
  /** The finding that was last given to a person. */
  escalated: z.optional(z.enum(lookupFindings)),
});
export type LookupRecord = z.output<typeof lookupRecordSchema>;

/**
 * After a rollback a record may have a finding of a later release: it counts as absent, so that other orders are still
 * asked for.
 */
const readableFinding = z.catch(z.optional(z.enum(lookupFindings)), undefined);
const readableRecordSchema = z.extend(lookupRecordSchema, { finding: readableFinding, escalated: readableFinding });

type Target = Pick<Transaction, "pk">;
type Sent = Pick<Transaction, "sent_at" | "created_at">;
const lookupPk = (transaction: Target): string => cachePk("upstream-lookup", transactionIdOf(transaction));

/** What is known of the order's last sending. An answer about one before says nothing of it. */
const ofLastSending = (order: Sent, record: LookupRecord | undefined): LookupRecord | undefined =>
  record?.asked_at !== undefined && record.asked_at < sentAt(order) ? undefined : record;

/** The records of these orders' last sendings, by the orders' keys. One that cannot be read counts as lost. */
export const readLookups = async (
  cache: Table,
  transactions: readonly (Target & Sent)[],
): Promise<ReadonlyMap<string, LookupRecord>> => {
  const byPk = await getItemsByPk(cache, transactions.map(lookupPk), readableRecordSchema, () => {});
  return new Map(
    transactions.flatMap((transaction) => {
      const record = ofLastSending(transaction, byPk.get(lookupPk(transaction)));
      return record === undefined ? [] : [[transaction.pk, record]];
    }),
  );
};

/** The record of this order's last sending. */
export const readLookupRecord = async (cache: Table, transaction: Target & Sent): Promise<LookupRecord | undefined> =>
  ofLastSending(transaction, await getItem(cache, lookupPk(transaction), readableRecordSchema));

/** When the order is asked for next. A question that a person requested is not sent before the first one would be. */
export const nextQuestionMs = (transaction: Transaction, record: LookupRecord | undefined): number => {
  const { next_at = EPOCH } = ofLastSending(transaction, record) ?? {};
  return Math.max(Date.parse(sentAt(transaction)) + FIRST_QUESTION_MS, Date.parse(next_at));
};

/** From one question to the next: 2, 4, 8 minutes, and so on, until it is 6 hours. */
export const intervalMs = (asked: number): number => Math.min(INTERVAL_MS_MAX, FIRST_QUESTION_MS * 2 ** asked);

/**
 * Notes an answer, and when the next question is due. The interval begins when this question was due. Counted from the
 * answer, which comes after its run began, the next question would be due just after a run, and be sent a minute late.
 * After a question that missed its run the interval begins at the answer, so that the next one does not follow at once.
 */
export const noteAnswer = async (
  { db, table }: Table,
  transaction: Transaction,
  previous: LookupRecord | undefined,
  { finding, details, escalated }: Pick<LookupRecord, "details" | "escalated"> & { finding: LookupFinding },
  nowMs: number,
  /** When the run that asked began. */
  runMs: number,
): Promise<void> => {
  const asked = (previous?.asked ?? 0) + 1;
  const wasDueMs = nextQuestionMs(transaction, previous);
  const countedFromMs = runMs - wasDueMs <= RUN_EVERY_MS ? wasDueMs : nowMs;
  const values = {
    ...{ asked, finding, details, escalated },
    asked_at: isoTime(nowMs),
    next_at: isoTime(countedFromMs + intervalMs(asked)),
    expires_at_s: Math.floor(nowMs / 1_000) + KEPT_S,
  };
  const removed = [
    ...(details === undefined ? ["details"] : []),
    // Of a sending before.
    ...(escalated === undefined && previous === undefined ? ["escalated"] : []),
  ];
  const Key = { pk: lookupPk(transaction) };
  await retryContention(() => db.update({ TableName: table, Key, ...updateOf(setParts(values, removed)) }));
};

/** The next run asks for the order. */
export const askNow = async ({ db, table }: Table, transaction: Target, nowMs: number): Promise<void> => {
  const values = { next_at: isoTime(nowMs), expires_at_s: Math.floor(nowMs / 1_000) + KEPT_S };
  const Key = { pk: lookupPk(transaction) };
  await retryContention(() => db.update({ TableName: table, Key, ...updateOf(setParts(values)) }));
};
