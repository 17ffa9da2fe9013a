import { BatchGetCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { sleep } from "../platform/time.ts";
import type { Ledger } from "./ledger.ts";

type Key = { readonly pk: string };

const BATCH_ROUNDS_MAX = 5;

/** What BatchGetItem takes at once. */
export const BATCH_KEYS_MAX = 100;

/** The items of these keys, read strongly, in the keys' order; a key without an item is left out. */
export const readItems = async <Item extends Key>(
  ledger: Ledger,
  keys: readonly Key[],
  schema: z.ZodType<Item>,
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  for (let start = 0; start < keys.length; start += BATCH_KEYS_MAX) {
    items.push(...(await readBatch(ledger, keys.slice(start, start + BATCH_KEYS_MAX), schema)));
  }
  return items;
};

const readBatch = async <Item extends Key>(
  { db, table }: Ledger,
  keys: readonly Key[],
  schema: z.ZodType<Item>,
): Promise<readonly Item[]> => {
  const found = new Map<string, Item>();
  let wanted: readonly Key[] = keys.map(({ pk }) => ({ pk }));
  for (let round = 0; wanted.length > 0; round += 1) {
    // DynamoDB may leave keys out when it is busy; it says which.
    if (round === BATCH_ROUNDS_MAX) throw new Error("DynamoDB kept leaving out keys of a batch");
    if (round > 0) await sleep(50 * 2 ** round);
    const { Responses, UnprocessedKeys } = await db.send(
      new BatchGetCommand({ RequestItems: { [table]: { Keys: [...wanted], ConsistentRead: true } } }),
    );
    for (const item of Responses?.[table] ?? []) {
      const row = schema.parse(item);
      found.set(row.pk, row);
    }
    wanted = z.array(z.object({ pk: z.string() })).parse(UnprocessedKeys?.[table]?.Keys ?? []);
  }
  return keys.flatMap(({ pk }) => found.get(pk) ?? []);
};
