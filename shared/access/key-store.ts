import type { UpdateCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "#zod";
import { duplicateWindowSchema } from "../contract/duplicate-window.ts";
import type { RateGroup } from "../contract/limits.ts";
import { orderLimitsSchema } from "../contract/order-limits.ts";
import { entitlementsSchema, permissionSchema } from "../contract/permission.ts";
import { modeSchema } from "../contract/transaction.ts";
import { MINUTE_MS } from "../contract/values/durations.ts";
import { getItem, getItems } from "../ledger/get-item.ts";
import { isConditionFailure } from "../platform/aws/errors.ts";
import type { DocumentClient } from "../platform/aws-clients.ts";
import { retryContention } from "../platform/backoff.ts";
import { errorFields, log } from "../platform/log.ts";
import { RATE_COUNT_RETRY_MS_MAX } from "../platform/time-budgets.ts";

export const accountStatus = z.enum(["active", "restricted", "closed"]);

/**
 * One key's item in the access table; `pk` is the SHA-256 of the key. It also holds the key's counters, one per rate
 * group and minute. It stays below 1 KB, so a request costs one write unit.
 */
export const keyItemSchema = z.looseObject({
  pk: z.string(),
  key_id: z.string(),
  account_id: z.string(),
  account_status: accountStatus,
  mode: modeSchema,
  status: z.enum(["active", "revoked"]),
  /** When a rotated key ends. */
  expires_at: z.optional(z.iso.datetime()),
  permissions: z.optional(z.set(permissionSchema)),
  /** The account's. */
  entitlements: entitlementsSchema,
  /** The version of the account's price rules (shared/prices/price-list.ts); absent if it has none. */
  price_list: z.optional(z.int()),
  /** The account's; absent if it has none. */
  duplicate_window_s: z.optional(duplicateWindowSchema),
  /** The account's, and the key's own; absent if it has none. */
  account_limits: z.optional(orderLimitsSchema),
  key_limits: z.optional(orderLimitsSchema),
  whitelist: z.optional(z.set(z.instanceof(Uint8Array))),
});
export type KeyItem = z.infer<typeof keyItemSchema>;

/** The key's item, read without counting a request; undefined if the key does not exist. */
export const findKey = async (db: DocumentClient, table: string, hash: string): Promise<KeyItem | undefined> =>
  getItem({ db, table }, hash, keyItemSchema);

/** The items of these keys; a key without an item is left out. */
export const findKeys = (
  { db, accessTable }: { readonly db: DocumentClient; readonly accessTable: string },
  hashes: readonly string[],
): Promise<readonly KeyItem[]> => getItems({ db, table: accessTable }, hashes, keyItemSchema);

/** A counter's name is its rate group and its minute: `vtu:29412345`. */
const counterName = (group: RateGroup, minute: number): string => `${group}:${minute}`;
/** Matches a counter of any group, also of one that is no longer in the table. No other attribute has a colon. */
const COUNTER = /^[^:]+:(\d+)$/;
/** The same as a pattern of IAM: what functions that only count may change of a key's item. */
export const COUNTER_NAMES = "*:*";
const countedRequests = z.int().check(z.positive());
const STALE_COUNTERS_MAX = 8;

/**
 * The minute of the key's newest counted request, in milliseconds; undefined before the first. A request removes only
 * counters of minutes before its own, so the newest of all is always there; the newest of a group may not be.
 */
export const lastUsedMs = (keyItem: KeyItem): number | undefined => {
  const minutes = Object.keys(keyItem).flatMap((name) => COUNTER.exec(name)?.[1] ?? []);
  return minutes.length === 0 ? undefined : Math.max(...minutes.map(Number)) * MINUTE_MS;
};

/**
 * Authenticates and counts in one write: adds this request to the key's minute, removes the group's previous minute,
 * and returns the whole item, or undefined if the key does not exist. It retries while another write holds the item. A
 * count whose response was lost may count twice (docs/interface.md 6.D5).
 */
export const countRequest = async (
  db: DocumentClient,
  table: string,
  request: { readonly hash: string; readonly group: RateGroup; readonly minute: number },
) => {
  const { hash, group, minute } = request;
  const counter = counterName(group, minute);
  const count: UpdateCommandInput = {
    TableName: table,
    Key: { pk: hash },
    UpdateExpression: "ADD #counter :one REMOVE #previous",
    ConditionExpression: "attribute_exists(pk)",
    ExpressionAttributeNames: { "#counter": counter, "#previous": counterName(group, minute - 1) },
    ExpressionAttributeValues: { ":one": 1 },
    ReturnValues: "ALL_NEW",
  };
  try {
    const { Attributes } = await retryContention(() => db.update(count), RATE_COUNT_RETRY_MS_MAX);
    const keyItem = keyItemSchema.parse(Attributes);
    await removeStaleCounters(db, table, keyItem, minute);
    return { keyItem, requestsThisMinute: countedRequests.parse(keyItem[counter]) };
  } catch (error) {
    if (isConditionFailure(error)) return undefined;
    throw error;
  }
};

/** A key that is used now and then leaves a counter each time. Once there are many, one more write removes them. */
const removeStaleCounters = async (
  db: DocumentClient,
  table: string,
  keyItem: KeyItem,
  minute: number,
): Promise<void> => {
  const stale = Object.keys(keyItem).filter((name) => Number(COUNTER.exec(name)?.[1] ?? minute) < minute);
  if (stale.length < STALE_COUNTERS_MAX) return;
  const removal: UpdateCommandInput = {
    TableName: table,
    Key: { pk: keyItem.pk },
    UpdateExpression: `REMOVE ${stale.map((_, index) => `#stale${index}`).join(", ")}`,
    ExpressionAttributeNames: Object.fromEntries(stale.map((name, index) => [`#stale${index}`, name])),
  };
  // A failure here does not fail the request, which is counted already. The next request retries.
  await db.update(removal).catch((error: unknown) => log.warn("rate_counters.not_removed", errorFields(error)));
};
