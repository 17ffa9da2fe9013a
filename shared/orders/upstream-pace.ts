import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { rateGroups } from "../contract/limits.ts";
import { getItem } from "../ledger/get-item.ts";
import type { Table } from "../ledger/ledger.ts";
import { isoTime } from "../platform/time.ts";
import { SCHEDULE_MS, SENDING_MS } from "../platform/time-budgets.ts";

export const UPSTREAM_PACE_PK = "upstream-pace";
const NEVER = "1970-01-01T00:00:00.000Z";

/**
 * What the instances of the functions tell each other about the upstream's limit for purchases: an item of the cache
 * table. It decides only whether an order is sent at once or waits, so a stale reading costs time and no money.
 */
export const upstreamPaceSchema = z.object({
  /** Until then the limit is spent, and orders wait. */
  limit_until: z.iso.datetime().catch(NEVER),
  /** Until then orders wait because others do. */
  queue_until: z.iso.datetime().catch(NEVER),
  /** How many orders waited when the sender counted them last. */
  waiting_orders: z.int().min(0).catch(0),
  /** Orders that the upstream takes in a minute. */
  per_minute: z.int().min(1).catch(rateGroups.vtu.requestsPerMinute),
  /** When the sender's next run begins. */
  next_run: z.iso.datetime().catch(NEVER),
});
export type UpstreamPace = z.output<typeof upstreamPaceSchema>;

export const NO_ORDER_WAITS: UpstreamPace = upstreamPaceSchema.parse({});

/** Until then orders wait. */
export const waitUntil = ({ limit_until, queue_until }: UpstreamPace): string =>
  limit_until > queue_until ? limit_until : queue_until;

/** Tells all instances that the limit is spent until then, unless they know it to be spent for longer. */
export const noteLimitSpent = async (
  { db, table }: Table,
  untilMs: number,
  abortSignal: AbortSignal,
): Promise<void> => {
  try {
    await db.send(
      new UpdateCommand({
        TableName: table,
        Key: { pk: UPSTREAM_PACE_PK },
        UpdateExpression: "SET limit_until = :until",
        ConditionExpression: "attribute_not_exists(limit_until) OR limit_until < :until",
        ExpressionAttributeValues: { ":until": isoTime(untilMs) },
      }),
      { abortSignal },
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
};

/** Tells all instances what the sender knows: how many orders wait, and until when others must. */
export const noteQueue = async ({ db, table }: Table, pace: Omit<UpstreamPace, "limit_until">): Promise<void> => {
  const names = Object.keys(pace);
  await db.send(
    new UpdateCommand({
      TableName: table,
      Key: { pk: UPSTREAM_PACE_PK },
      UpdateExpression: `SET ${names.map((name) => `${name} = :${name}`).join(", ")}`,
      ExpressionAttributeValues: Object.fromEntries(Object.entries(pace).map(([name, value]) => [`:${name}`, value])),
    }),
  );
};

export const readUpstreamPace = async (cache: Table): Promise<UpstreamPace> =>
  (await getItem(cache, UPSTREAM_PACE_PK, upstreamPaceSchema)) ?? NO_ORDER_WAITS;

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
  const freeMs = Math.max(nowMs + limitS * 1_000, Date.parse(pace.limit_until));
  const orders = Math.max(pace.waiting_orders, ahead) + 1;
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
