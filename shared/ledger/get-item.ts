import { BatchGetCommand, GetCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { backoff, retryContention } from "../platform/backoff.ts";
import { deadlineIn } from "../platform/deadline.ts";
import { BATCH_READ_RETRY_MS_MAX } from "../platform/time-budgets.ts";
import type { Table } from "./ledger.ts";

type ItemKey = { readonly pk: string };

/** The item with this key, read strongly; undefined if there is none. */
export const getItem = async <Item>(
  { db, table }: Table,
  pk: string,
  schema: z.ZodType<Item>,
  abortSignal?: AbortSignal,
): Promise<Item | undefined> => {
  const get = new GetCommand({ TableName: table, Key: { pk }, ConsistentRead: true });
  const { Item } = await db.send(get, { ...(abortSignal && { abortSignal }) });
  return Item && schema.parse(Item);
};

/** DynamoDB was too busy to read all keys of a batch. */
export class UnprocessedKeysError extends Error {
  override readonly name = "UnprocessedKeysError";
  constructor() {
    super("DynamoDB kept leaving out keys of a batch");
  }
}

/** The most keys that BatchGetItem takes. */
export const BATCH_KEYS_MAX = 100;

/** The items of these keys, read strongly, in the keys' order; a key without an item is left out. */
export const getItems = async <Item extends ItemKey>(
  table: Table,
  keys: readonly ItemKey[],
  schema: z.ZodType<Item>,
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  for (let start = 0; start < keys.length; start += BATCH_KEYS_MAX) {
    items.push(...(await getBatch(table, keys.slice(start, start + BATCH_KEYS_MAX), schema)));
  }
  return items;
};

const getBatch = async <Item extends ItemKey>(
  { db, table }: Table,
  keys: readonly ItemKey[],
  schema: z.ZodType<Item>,
): Promise<readonly Item[]> => {
  const found = new Map<string, Item>();
  let unread: readonly ItemKey[] = keys.map(({ pk }) => ({ pk }));
  const nextAttempt = backoff(deadlineIn(BATCH_READ_RETRY_MS_MAX).remainingMs);
  for (;;) {
    const batch = new BatchGetCommand({ RequestItems: { [table]: { Keys: [...unread], ConsistentRead: true } } });
    // DynamoDB throttles the call if it can read none of the keys; otherwise it returns those that it left out.
    const { Responses, UnprocessedKeys } = await retryContention(() => db.send(batch), BATCH_READ_RETRY_MS_MAX);
    for (const response of Responses?.[table] ?? []) {
      const item = schema.parse(response);
      found.set(item.pk, item);
    }
    unread = z.array(z.object({ pk: z.string() })).parse(UnprocessedKeys?.[table]?.Keys ?? []);
    if (unread.length === 0) return keys.flatMap(({ pk }) => found.get(pk) ?? []);
    if (!(await nextAttempt())) throw new UnprocessedKeysError();
  }
};
