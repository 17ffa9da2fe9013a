import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { type DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { RateGroup } from "../contract/limits.ts";
import { permissionSchema } from "../contract/routes.ts";
import { modeSchema } from "../contract/transaction.ts";
import { getItem } from "../ledger/get-item.ts";
import { retryContention } from "../platform/backoff.ts";
import { errorFields, log } from "../platform/log.ts";

export const accountStatus = z.enum(["active", "restricted"]);

/**
 * One key's item in the access table, found by the SHA-256 of the key. Beside these fields it holds its counters, one number a
 * rate group and minute, named `vtu:29412345`. It stays below 1 KB, so that a request costs one write unit.
 */
export const keyItemSchema = z
  .object({
    pk: z.string(),
    key_id: z.string(),
    account_id: z.string(),
    account_status: accountStatus,
    mode: modeSchema,
    status: z.enum(["active", "revoked"]),
    /** When it stops by itself: it was rotated. */
    expires_at: z.iso.datetime().optional(),
    permissions: z.set(permissionSchema).optional(),
    whitelist: z.set(z.instanceof(Uint8Array)).optional(),
  })
  .loose();
export type KeyItem = z.infer<typeof keyItemSchema>;

/** The key's item, without counting anything; undefined where nobody was given it. */
export const findKey = async (db: DynamoDBDocumentClient, table: string, hash: string): Promise<KeyItem | undefined> =>
  getItem({ db, table }, hash, keyItemSchema);

const COUNTER = /^(vtu|identity|catalog):(\d+)$/;
const STALE_COUNTERS_MAX = 8;

const counterName = (group: RateGroup, minute: number): string => `${group}:${minute}`;

/** A change of the account holds the key's item for some milliseconds; this is enough for many of them, and a caller can wait for it. */
const COUNT_RETRY_MS_MAX = 2_000;

export type CountedKey = { readonly row: KeyItem; readonly requestsThisMinute: number };

/**
 * Authenticates and counts in one write: adds this request to the key's minute and returns the whole item, or undefined where
 * no such key exists. The group's previous minute goes in the same write. While another write holds the key's item it tries
 * again; a count whose answer was lost may count twice, which costs the caller one request of its minute.
 */
export const countRequest = async (
  db: DynamoDBDocumentClient,
  table: string,
  request: { readonly hash: string; readonly group: RateGroup; readonly minute: number },
): Promise<CountedKey | undefined> => {
  const { hash, group, minute } = request;
  const counter = counterName(group, minute);
  const count = new UpdateCommand({
    TableName: table,
    Key: { pk: hash },
    UpdateExpression: "ADD #counter :one REMOVE #previous",
    ConditionExpression: "attribute_exists(pk)",
    ExpressionAttributeNames: { "#counter": counter, "#previous": counterName(group, minute - 1) },
    ExpressionAttributeValues: { ":one": 1 },
    ReturnValues: "ALL_NEW",
  });
  try {
    const { Attributes } = await retryContention(() => db.send(count), COUNT_RETRY_MS_MAX);
    const row = keyItemSchema.parse(Attributes);
    await removeStaleCounters(db, table, row, minute);
    return { row, requestsThisMinute: z.int().positive().parse(row[counter]) };
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
};

/** A key that is used now and then leaves a counter behind each time; one more write removes them once they are many. */
const removeStaleCounters = async (
  db: DynamoDBDocumentClient,
  table: string,
  row: KeyItem,
  minute: number,
): Promise<void> => {
  const stale = Object.keys(row).filter((name) => Number(COUNTER.exec(name)?.[2] ?? minute) < minute);
  if (stale.length < STALE_COUNTERS_MAX) return;
  const removal = new UpdateCommand({
    TableName: table,
    Key: { pk: row.pk },
    UpdateExpression: `REMOVE ${stale.map((_, index) => `#stale${index}`).join(", ")}`,
    ConditionExpression: "attribute_exists(pk)",
    ExpressionAttributeNames: Object.fromEntries(stale.map((name, index) => [`#stale${index}`, name])),
  });
  // The request is counted and its key is known: it does not fail for want of tidiness. The next one tries again.
  await db.send(removal).catch((error: unknown) => log.warn("counters.not_removed", errorFields(error)));
};
