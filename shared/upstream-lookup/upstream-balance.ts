import * as z from "#zod";
import { HOUR_MS, MINUTE_MS } from "../contract/values/durations.ts";
import { koboSchema, nairaFromKobo } from "../contract/values/money.ts";
import { getItem } from "../ledger/get-item.ts";
import type { Table } from "../ledger/ledger.ts";
import { setParts, updateOf } from "../ledger/update-parts.ts";
import { retryContention } from "../platform/backoff.ts";
import { cachePk } from "../platform/cache-keys.ts";
import type { Deadline } from "../platform/deadline.ts";
import { log, putMetrics } from "../platform/log.ts";
import { type Clock, isoTime } from "../platform/time.ts";
import { ASK_RESERVE_MS } from "../platform/time-budgets.ts";
import type { UpstreamReader } from "../upstream/live-upstream.ts";
import { questionDeadline } from "./ask-upstream.ts";

const READ_EVERY_MS = HOUR_MS;
const RETRIED_AFTER_MS = 10 * MINUTE_MS;

/** What the upstream said last of our balance there: an item of the cache table. To lose it costs a question. */
export const upstreamBalanceSchema = z.object({
  pk: z.string(),
  next_at: z.iso.datetime(),
  /** Absent until an answer could be read. */
  balance_kobo: z.optional(koboSchema),
  read_at: z.optional(z.iso.datetime()),
});
export type UpstreamBalance = z.output<typeof upstreamBalanceSchema>;

const PK = cachePk("upstream-balance");

export const readUpstreamBalance = (cache: Table): Promise<UpstreamBalance | undefined> =>
  getItem(cache, PK, upstreamBalanceSchema);

/**
 * Asks the upstream for our balance, each hour, and 10 minutes after an answer that says nothing. It is shown beside the
 * books, and changes nothing in them. Resolves with whether it was read.
 */
export const askForBalance = async (
  { cache, reader, clock }: { readonly cache: Table; readonly reader: UpstreamReader; readonly clock: Clock },
  deadline: Deadline,
): Promise<boolean> => {
  const { readBalance, waitS } = reader;
  if (readBalance === undefined) return false;
  const stored = await readUpstreamBalance(cache);
  const isDue = stored === undefined || stored.next_at <= isoTime(clock());
  if (!isDue || waitS() > 0 || deadline.remainingMs() < ASK_RESERVE_MS) return false;
  const answer = await readBalance(questionDeadline(deadline));
  const nowMs = clock();
  if (answer.kind === "unclear") log.warn("upstream.balance_not_read", { reason: answer.reason });
  else putMetrics({ UpstreamBalanceNaira: nairaFromKobo(answer.balanceKobo) }, nowMs);
  const isRead = answer.kind === "read";
  const values = {
    next_at: isoTime(nowMs + (isRead ? READ_EVERY_MS : RETRIED_AFTER_MS)),
    ...(isRead && { balance_kobo: answer.balanceKobo, read_at: isoTime(nowMs) }),
  };
  const update = { TableName: cache.table, Key: { pk: PK }, ...updateOf(setParts(values)) };
  await retryContention(() => cache.db.update(update));
  return isRead;
};
