import { BatchGetCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { backoff, isContention } from "../platform/backoff.ts";
import { deadlineIn } from "../platform/deadline.ts";
import type { Ledger } from "./ledger.ts";

type Key = { readonly pk: string };

/** How long keys that DynamoDB leaves out, or all of them, are asked for again. */
const BATCH_PATIENCE_MS = 3_000;

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
  const nextAttempt = backoff(deadlineIn(BATCH_PATIENCE_MS).remaining_ms);
  for (;;) {
    let refusal = new Error("DynamoDB kept leaving out keys of a batch");
    try {
      const { Responses, UnprocessedKeys } = await db.send(
        new BatchGetCommand({ RequestItems: { [table]: { Keys: [...wanted], ConsistentRead: true } } }),
      );
      for (const item of Responses?.[table] ?? []) {
        const row = schema.parse(item);
        found.set(row.pk, row);
      }
      // DynamoDB may leave keys out when it is busy; it says which.
      wanted = z.array(z.object({ pk: z.string() })).parse(UnprocessedKeys?.[table]?.Keys ?? []);
      if (wanted.length === 0) return keys.flatMap(({ pk }) => found.get(pk) ?? []);
    } catch (error) {
      // Where it can read none of the keys, it throttles the call instead.
      if (!(error instanceof Error && isContention(error))) throw error;
      refusal = error;
    }
    if (!(await nextAttempt())) throw refusal;
  }
};
