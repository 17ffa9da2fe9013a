import * as z from "#zod";
import { lazyObject } from "../contract/lazy-object.ts";
import { rateGroups } from "../contract/limits.ts";
import { getItem } from "../ledger/get-item.ts";
import type { Table } from "../ledger/ledger.ts";
import { setParts, type UpdateParts, updateOf } from "../ledger/update-parts.ts";
import { unlessRefused } from "../platform/aws/errors.ts";
import { cachePk } from "../platform/cache-keys.ts";
import { EPOCH, isoTime } from "../platform/time.ts";
import { SCHEDULE_MS, SENDING_MS } from "../platform/time-budgets.ts";
import { BLOCK_MS_MAX } from "../upstream/rate-limit.ts";
import type { UpstreamBlocks } from "../upstream/upstream.ts";

export const UPSTREAM_PACE_PK = cachePk("upstream-pace");

/** What holds as long as nothing is noted. A value that cannot be read counts as this. */
export const NO_ORDERS_QUEUED = {
  limit_until: EPOCH,
  unrecognized_until: EPOCH,
  queue_until: EPOCH,
  queued_orders: 0,
  per_minute: rateGroups.vtu.requestsPerMinute,
  next_run: EPOCH,
};

/**
 * What the instances of the functions tell each other about purchases at the upstream: an item of the cache table. It
 * decides only when an order is sent, so a stale reading costs time and no money.
 */
export const upstreamPaceSchema = lazyObject(() => ({
  /** Until then the limit is spent, and orders wait. */
  limit_until: z.catch(z.iso.datetime(), NO_ORDERS_QUEUED.limit_until),
  /** Until then orders wait, because something else answered in the upstream's place. Removed when it answers again. */
  unrecognized_until: z.catch(z.iso.datetime(), NO_ORDERS_QUEUED.unrecognized_until),
  /** Until then orders wait because others do. */
  queue_until: z.catch(z.iso.datetime(), NO_ORDERS_QUEUED.queue_until),
  /** How many orders waited when the sender counted them last. */
  queued_orders: z.catch(z.int().check(z.minimum(0)), NO_ORDERS_QUEUED.queued_orders),
  /** Orders that the upstream takes in a minute. */
  per_minute: z.catch(z.int().check(z.minimum(1)), NO_ORDERS_QUEUED.per_minute),
  /** When the sender's next run begins. */
  next_run: z.catch(z.iso.datetime(), NO_ORDERS_QUEUED.next_run),
}));
export type UpstreamPace = z.output<typeof upstreamPaceSchema>;

/** A time that no instance can have noted, as by a clock that was wrong, counts as none. */
const blockMs = (until: string, nowMs: number): number => {
  const untilMs = Date.parse(until);
  return untilMs > nowMs + BLOCK_MS_MAX ? 0 : untilMs;
};

export const blocksOf = (pace: UpstreamPace, nowMs: number): UpstreamBlocks => ({
  limitUntilMs: blockMs(pace.limit_until, nowMs),
  unrecognizedUntilMs: blockMs(pace.unrecognized_until, nowMs),
});

/** Until then nothing is sent to the upstream. */
const blockedUntilMs = (pace: UpstreamPace, nowMs: number): number => {
  const { limitUntilMs, unrecognizedUntilMs } = blocksOf(pace, nowMs);
  return Math.max(limitUntilMs, unrecognizedUntilMs);
};

/** Until then orders wait. */
export const queueUntilMs = (pace: UpstreamPace, nowMs: number): number =>
  Math.max(blockedUntilMs(pace, nowMs), Date.parse(pace.queue_until));

type Block = "limit_until" | "unrecognized_until";

/** Tells all instances that purchases are blocked until then, unless they know them to be for longer. */
export const noteBlock = (cache: Table, block: Block, untilMs: number, nowMs: number, abortSignal: AbortSignal) =>
  update(
    cache,
    [
      setParts({ [block]: isoTime(untilMs) }),
      {
        conditions: [`attribute_not_exists(#${block}) OR NOT #${block} BETWEEN :${block} AND :latest`],
        values: { ":latest": isoTime(nowMs + BLOCK_MS_MAX) },
      },
    ],
    abortSignal,
  );

/** Tells all instances that the upstream itself answers again, unless something else has answered since. */
export const noteRecognized = (cache: Table, unrecognizedUntilMs: number, abortSignal: AbortSignal) =>
  update(
    cache,
    [
      setParts({}, ["unrecognized_until"]),
      { conditions: ["#unrecognized_until = :until"], values: { ":until": isoTime(unrecognizedUntilMs) } },
    ],
    abortSignal,
  );

/** Tells all instances what the sender knows: how many orders wait, and until when others must. */
export const noteQueue = (cache: Table, pace: Omit<UpstreamPace, Block>): Promise<void> =>
  update(cache, [setParts(pace)]);

const update = async (
  { db, table }: Table,
  parts: readonly UpdateParts[],
  abortSignal?: AbortSignal,
): Promise<void> => {
  const Key = { pk: UPSTREAM_PACE_PK };
  await unlessRefused(db.update({ TableName: table, Key, ...updateOf(...parts) }, { abortSignal }));
};

export const readUpstreamPace = async (cache: Table): Promise<UpstreamPace> =>
  (await getItem(cache, UPSTREAM_PACE_PK, upstreamPaceSchema)) ?? NO_ORDERS_QUEUED;

/** Seconds to send `orders` at the upstream's rate limit. */
export const sendingS = (orders: number, { per_minute }: Pick<UpstreamPace, "per_minute">): number =>
  Math.ceil((orders * 60) / per_minute);

/** Seconds until an order that begins to wait now is sent, about. */
export const estimatedDeliveryS = (
  pace: UpstreamPace,
  {
    nowMs,
    limitS,
    ahead,
  }: {
    readonly nowMs: number;
    /** Until the limit is free again, as far as this process knows. */
    readonly limitS: number;
    /** Orders of its account that are sent before it. */
    readonly ahead: number;
  },
): number => {
  const freeMs = Math.max(nowMs + limitS * 1_000, blockedUntilMs(pace, nowMs));
  const orders = Math.max(pace.queued_orders, ahead) + 1;
  return Math.ceil((sendingBeginsMs(pace, nowMs, freeMs) - nowMs) / 1_000) + sendingS(orders, pace);
};

/** The sender notes its next run only while orders wait. After a longer time its schedule may have moved. */
const SCHEDULE_KNOWN_MS = 10 * SCHEDULE_MS;

/** A run sends the orders that waited when it began, while it has time for more. */
const sendingBeginsMs = ({ next_run }: UpstreamPace, nowMs: number, freeMs: number): number => {
  const sinceMs = nowMs - Date.parse(next_run);
  const isKnown = sinceMs < SCHEDULE_KNOWN_MS;
  const passedRuns = Math.max(0, Math.ceil(sinceMs / SCHEDULE_MS));
  let runMs = isKnown ? Date.parse(next_run) + passedRuns * SCHEDULE_MS : nowMs + SCHEDULE_MS;
  while (freeMs >= runMs + SENDING_MS) runMs += SCHEDULE_MS;
  return Math.max(runMs, freeMs);
};
