import type { BatchGetCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "#zod";
import { backoff, retryContention } from "../platform/backoff.ts";
import { batchesOf } from "../platform/batches.ts";
import { deadlineIn } from "../platform/deadline.ts";
import { mapInOrder } from "../platform/map-in-order.ts";
import { BATCH_READ_RETRY_MS_MAX } from "../platform/time-budgets.ts";
import type { Table } from "./ledger.ts";

type ItemKey = { readonly pk: string };
/** What names an item: its key, or what an index has of it. */
export type ItemName = string | ItemKey;

/** The item with this key, read strongly; undefined if there is none. */
export const getItem = async <Item>(
  { db, table }: Table,
  pk: string,
  schema: z.ZodMiniType<Item>,
  abortSignal?: AbortSignal,
): Promise<Item | undefined> => {
  const options = { ...(abortSignal && { abortSignal }) };
  const { Item } = await db.get({ TableName: table, Key: { pk }, ConsistentRead: true }, options);
  return Item && schema.parse(Item);
};

/** DynamoDB was too busy to read all keys of a batch. */
export class UnprocessedKeysError extends Error {
  override readonly name = "UnprocessedKeysError";
  /** As the SDK marks an error that a later call may not meet. */
  readonly $retryable = {};
  constructor() {
    super("DynamoDB kept leaving out keys of a batch");
  }
}

/** The most keys that BatchGetItem takes. */
export const BATCH_KEYS_MAX = 100;

/**
 * Batches that are read at once. One takes up to 100 read units in some 10 ms; a new on-demand table has 12,000 a
 * second, and one process parses fewer than it gets from four.
 */
export const BATCHES_AT_ONCE = 4;

/** Called with the key of an item that has not the form of its schema, as one of a later release after a rollback. */
export type OnUnreadable = (pk: string, error: z.$ZodError) => void;

/**
 * The items of these keys, read strongly, in the keys' order; a key without an item is left out. So is an item that
 * cannot be read, if there is `onUnreadable`: without it, it is thrown.
 */
export const getItems = async <Item extends ItemKey>(
  table: Table,
  names: readonly ItemName[],
  schema: z.ZodMiniType<Item>,
  onUnreadable?: OnUnreadable,
): Promise<readonly Item[]> => {
  const keys = names.map((name) => (typeof name === "string" ? { pk: name } : name));
  const batches = mapInOrder(keyBatches(keys), BATCHES_AT_ONCE, (batch, abortSignal) =>
    getBatch(table, batch, schema, { abortSignal, onUnreadable }),
  );
  return (await Array.fromAsync(batches)).flat();
};

/** The same of many keys, by their keys. */
export const getItemsByPk = async <Item extends ItemKey>(
  table: Table,
  names: readonly ItemName[],
  schema: z.ZodMiniType<Item>,
  onUnreadable?: OnUnreadable,
): Promise<ReadonlyMap<string, Item>> =>
  new Map((await getItems(table, names, schema, onUnreadable)).map((item) => [item.pk, item]));

/**
 * Keys in batches that one read can take, each once: an index may list an item twice while its sort key changes, and
 * BatchGetItem refuses duplicates.
 */
export const keyBatches = <Key extends ItemKey>(keys: readonly Key[]): Generator<readonly Key[], void, void> =>
  batchesOf([...new Map(keys.map((key) => [key.pk, key])).values()], BATCH_KEYS_MAX);

/**
 * Reads many items as `getItems`, batch by batch as they are consumed: only the attributes that the schema has, because
 * parsing them is most of the work.
 */
export const getItemBatches = <Key extends ItemKey, Item extends ItemKey>(
  table: Table,
  batches: Iterable<readonly Key[]> | AsyncIterable<readonly Key[]>,
  schema: z.ZodMiniType<Item> & { readonly shape: object },
  onUnreadable?: OnUnreadable,
) => {
  const attributes = Object.keys(schema.shape);
  return mapInOrder(batches, BATCHES_AT_ONCE, async (keys, abortSignal) => ({
    keys,
    items: await getBatch(table, keys, schema, { attributes, abortSignal, onUnreadable }),
  }));
};

/** Reads many items as `getItemBatches`, all at once. */
export const getItemFields = async <Item extends ItemKey>(
  table: Table,
  pks: readonly string[],
  schema: z.ZodMiniType<Item> & { readonly shape: object },
  onUnreadable?: OnUnreadable,
): Promise<readonly Item[]> => {
  const batches = getItemBatches(table, keyBatches(pks.map((pk) => ({ pk }))), schema, onUnreadable);
  return (await Array.fromAsync(batches)).flatMap(({ items }) => items);
};

type BatchRead = {
  readonly attributes?: readonly string[];
  readonly abortSignal: AbortSignal;
  readonly onUnreadable: OnUnreadable | undefined;
};

const itemKey = z.object({ pk: z.string() });

const getBatch = async <Item extends ItemKey>(
  { db, table }: Table,
  keys: readonly ItemKey[],
  schema: z.ZodMiniType<Item>,
  { attributes, abortSignal, onUnreadable }: BatchRead,
): Promise<readonly Item[]> => {
  const found = new Map<string, Item>();
  let unread: readonly ItemKey[] = keys.map(({ pk }) => ({ pk }));
  const nextAttempt = backoff(deadlineIn(BATCH_READ_RETRY_MS_MAX).remainingMs);
  while (unread.length > 0) {
    const reading = { Keys: [...unread], ConsistentRead: true, ...(attributes && projectionOf(attributes)) };
    const batch: BatchGetCommandInput = { RequestItems: { [table]: reading } };
    // DynamoDB throttles the call if it can read none of the keys; otherwise it returns those that it left out.
    const { Responses, UnprocessedKeys } = await retryContention(
      () => db.batchGet(batch, { abortSignal }),
      BATCH_READ_RETRY_MS_MAX,
    );
    for (const response of Responses?.[table] ?? []) {
      try {
        const item = schema.parse(response);
        found.set(item.pk, item);
      } catch (error) {
        if (onUnreadable === undefined || !(error instanceof z.$ZodError)) throw error;
        onUnreadable(itemKey.parse(response).pk, error);
      }
    }
    unread = z.array(itemKey).parse(UnprocessedKeys?.[table]?.Keys ?? []);
    if (unread.length > 0 && !(await nextAttempt())) throw new UnprocessedKeysError();
  }
  return keys.flatMap(({ pk }) => found.get(pk) ?? []);
};

/** By position, because some of the attributes' names are reserved words. */
export const projectionOf = (attributes: readonly string[]) => ({
  ProjectionExpression: attributes.map((_, index) => `#${index}`).join(", "),
  ExpressionAttributeNames: Object.fromEntries(attributes.map((name, index) => [`#${index}`, name])),
});
