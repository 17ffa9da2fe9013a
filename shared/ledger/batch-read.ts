import { BatchGetCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { backoff, retryContention } from "../platform/backoff.ts";
import { deadlineIn } from "../platform/deadline.ts";
import { BATCH_READ_RETRY_MS_MAX } from "../platform/time-budgets.ts";
import type { Ledger } from "./transact.ts";

type Key = { readonly pk: string };

/** DynamoDB was too busy to read all keys of a batch. */
export class UnprocessedKeysError extends Error {
  override readonly name = "UnprocessedKeysError";
  constructor() {
    super("DynamoDB kept leaving out keys of a batch");
  }
}

/** What BatchGetItem takes at once. */
export const BATCH_KEYS_MAX = 100;

/** The items of these keys, read strongly, in the keys' order; a key without an item is left out. */
export const readItems = async <Item extends Key>(
  table: Pick<Ledger, "db" | "table">,
  keys: readonly Key[],
  schema: z.ZodType<Item>,
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  for (let start = 0; start < keys.length; start += BATCH_KEYS_MAX) {
    items.push(...(await readBatch(table, keys.slice(start, start + BATCH_KEYS_MAX), schema)));
  }
  return items;
};

const readBatch = async <Item extends Key>(
  { db, table }: Pick<Ledger, "db" | "table">,
  keys: readonly Key[],
  schema: z.ZodType<Item>,
): Promise<readonly Item[]> => {
  const found = new Map<string, Item>();
  let wanted: readonly Key[] = keys.map(({ pk }) => ({ pk }));
  const nextAttempt = backoff(deadlineIn(BATCH_READ_RETRY_MS_MAX).remainingMs);
  for (;;) {
    const batch = new BatchGetCommand({ RequestItems: { [table]: { Keys: [...wanted], ConsistentRead: true } } });
    // Where DynamoDB is busy it throttles the call if it can read none of the keys, and else says which it left out.
    const { Responses, UnprocessedKeys } = await retryContention(() => db.send(batch), BATCH_READ_RETRY_MS_MAX);
    for (const item of Responses?.[table] ?? []) {
      const row = schema.parse(item);
      found.set(row.pk, row);
    }
    wanted = z.array(z.object({ pk: z.string() })).parse(UnprocessedKeys?.[table]?.Keys ?? []);
    if (wanted.length === 0) return keys.flatMap(({ pk }) => found.get(pk) ?? []);
    if (!(await nextAttempt())) throw new UnprocessedKeysError();
  }
};
