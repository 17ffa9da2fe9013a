import * as z from "#zod";
import { type CancellationReason, cancellationReason } from "./answers.ts";
import { type Item, item } from "./items.ts";
import type { Forward } from "./wire.ts";
import type { Write } from "./writes.ts";

const responses = z.object({ Responses: z.record(z.string(), z.array(item)) });

/** The present items of these writes by the writes' ids, without those that do not exist. */
export const imagesOf = async (forward: Forward, writes: readonly Write[]): Promise<ReadonlyMap<string, Item>> => {
  const tables = Map.groupBy(writes, ({ table }) => table);
  const RequestItems = Object.fromEntries(
    [...tables].map(([table, of]) => [table, { Keys: of.map(({ key }) => key), ConsistentRead: true }]),
  );
  const { status, body } = await forward("BatchGetItem", JSON.stringify({ RequestItems }));
  if (status !== 200) throw new Error(`The emulator refused to read what is about to be written: ${body}`);
  const found = responses.parse(JSON.parse(body)).Responses;
  const images = new Map<string, Item>();
  for (const { table, key, id } of writes) {
    const image = found[table]?.find((one) => Object.entries(key).every(([name, value]) => isSame(one[name], value)));
    if (image !== undefined) images.set(id, image);
  }
  return images;
};

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const cancellation = z.object({ CancellationReasons: z.array(cancellationReason) });

/**
 * What the emulator says about each item of a transaction that must have no effect: a last condition is added that
 * fails. Empty where the transaction has no room for it.
 */
export const reasonsWithoutEffect = async (
  forward: Forward,
  TransactItems: readonly unknown[],
  [first, ...others]: readonly Write[],
): Promise<readonly CancellationReason[]> => {
  const ITEMS_MAX = 100;
  if (first === undefined || others.length + 1 >= ITEMS_MAX) return [];
  const Key = Object.fromEntries(Object.keys(first.key).map((name) => [name, { S: "strict-layer#never" }]));
  const [name = ""] = Object.keys(Key);
  const ConditionCheck = { TableName: first.table, Key, ConditionExpression: `attribute_exists(${name})` };
  const request = { TransactItems: [...TransactItems, { ConditionCheck }] };
  const { status, body } = await forward("TransactWriteItems", JSON.stringify(request));
  if (status === 200) throw new Error("The emulator accepted a transaction whose condition must fail");
  return cancellation.parse(JSON.parse(body)).CancellationReasons.slice(0, -1);
};
