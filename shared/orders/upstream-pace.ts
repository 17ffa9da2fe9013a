import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { rateGroups } from "../contract/limits.ts";
import { getItem } from "../ledger/get-item.ts";
import type { Table } from "../ledger/ledger.ts";
import { isoTime } from "../platform/time.ts";

export const UPSTREAM_PACE_PK = "upstream-pace";

/**
 * What the instances of the functions tell each other about the upstream's limit for purchases: an item of the cache
 * table. It decides only whether an order is sent at once or waits, so a stale reading costs time and no money.
 */
export const upstreamPaceSchema = z.object({
  /** Until then orders wait: the limit is spent, or other orders wait. */
  wait_until: z.iso.datetime().catch("1970-01-01T00:00:00.000Z"),
  /** How many orders waited when the sender counted them last. */
  waiting_orders: z.int().min(0).catch(0),
  /** Orders that the upstream takes in a minute. */
  per_minute: z.int().min(1).catch(rateGroups.vtu.requestsPerMinute),
});
export type UpstreamPace = z.output<typeof upstreamPaceSchema>;

export const NO_ORDER_WAITS: UpstreamPace = upstreamPaceSchema.parse({});

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
        UpdateExpression: "SET wait_until = :until",
        ConditionExpression: "attribute_not_exists(wait_until) OR wait_until < :until",
        ExpressionAttributeValues: { ":until": isoTime(untilMs) },
      }),
      { abortSignal },
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
};

/** Tells all instances how many orders wait, and until when others must. */
export const writeUpstreamPace = async ({ db, table }: Table, pace: UpstreamPace): Promise<void> => {
  await db.send(new PutCommand({ TableName: table, Item: { pk: UPSTREAM_PACE_PK, ...pace } }));
};

export const readUpstreamPace = async (cache: Table): Promise<UpstreamPace> =>
  (await getItem(cache, UPSTREAM_PACE_PK, upstreamPaceSchema)) ?? NO_ORDER_WAITS;

/** Seconds in which the upstream takes so many orders, at its limit. */
export const sendingS = (orders: number, { per_minute }: Pick<UpstreamPace, "per_minute">): number =>
  Math.ceil((orders * 60) / per_minute);

/** Seconds until an order that begins to wait now is sent, about. `limitS`: until the limit is free again. */
export const estimatedDeliveryS = (pace: UpstreamPace, limitS: number): number =>
  limitS + sendingS(pace.waiting_orders + 1, pace);
