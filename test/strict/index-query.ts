import * as z from "zod";
import type { FormerImage } from "./history.ts";
import { type IndexShape, type Item, item, stringIn, type TableShape } from "./items.ts";
import type { Forward, WireAnswer } from "./wire.ts";

/** Strict: whatever else a query may hold would be ignored silently. */
const queryBody = z.strictObject({
  TableName: z.string(),
  IndexName: z.string(),
  KeyConditionExpression: z.string(),
  ExpressionAttributeNames: z.record(z.string(), z.string()).optional(),
  ExpressionAttributeValues: item,
  ScanIndexForward: z.boolean().default(true),
  Limit: z.int().positive().optional(),
  ExclusiveStartKey: item.optional(),
  ReturnConsumedCapacity: z.string().optional(),
});
type QueryBody = z.infer<typeof queryBody>;

const CONDITION = /^([#\w]+) = (:\w+)(?: AND ([#\w]+) BETWEEN (:\w+) AND (:\w+))?$/;

/**
 * Answers a query of an index that shows some items as they were: what the emulator has, with those items replaced by
 * their former images. Undefined where that makes no difference, so that the emulator's own answer will do.
 */
export const laggingQuery = async (
  forward: Forward,
  { partition, indexes }: TableShape,
  body: unknown,
  behind: ReadonlyMap<string, FormerImage>,
): Promise<WireAnswer | undefined> => {
  const parsed = queryBody.safeParse(body);
  if (!parsed.success) throw new Error(`a query of this form: ${parsed.error.message}`);
  const query = parsed.data;
  const index = indexes.find(({ name }) => name === query.IndexName);
  if (index === undefined) throw new Error(`a query of ${query.IndexName}`);
  const belongs = conditionOf(query, index);

  const keyOf = (of: Item): string => stringIn(of, partition) ?? "";
  const current = await everything(forward, query);
  const formerKeys = new Set([...behind.values()].map(({ key }) => keyOf(key)));
  const formerImages = [...behind.values()]
    .map(({ image }) => image)
    .filter((image) => image !== undefined)
    .filter(belongs);
  if (formerImages.length === 0 && !current.some((found) => formerKeys.has(keyOf(found)))) return undefined;

  const placeOf = (of: Item): string => JSON.stringify([index.sort && stringIn(of, index.sort), keyOf(of)]);
  const direction = query.ScanIndexForward ? 1 : -1;
  const after = query.ExclusiveStartKey && placeOf(query.ExclusiveStartKey);
  const rest = [...current.filter((found) => !formerKeys.has(keyOf(found))), ...formerImages]
    .map((image) => ({ image: projected(image, index), place: placeOf(image) }))
    .toSorted((one, other) => (one.place < other.place ? -direction : direction))
    .filter(({ place }) => after === undefined || (query.ScanIndexForward ? place > after : place < after))
    .map(({ image }) => image);
  const Items = rest.slice(0, query.Limit);
  const last = Items.at(-1);
  const isCut = last !== undefined && Items.length === query.Limit;
  const keyAttributes = [partition, index.partition, ...(index.sort === undefined ? [] : [index.sort])];
  return {
    status: 200,
    body: JSON.stringify({
      Items,
      Count: Items.length,
      ScannedCount: Items.length,
      ...(isCut && { LastEvaluatedKey: only(last, keyAttributes) }),
    }),
  };
};

/** Whether an item is in the index and fulfils the query's condition. */
const conditionOf = (query: QueryBody, index: IndexShape): ((image: Item) => boolean) => {
  const [, hash = "", value = "", sort, from = "", to = ""] = CONDITION.exec(query.KeyConditionExpression) ?? [];
  const named = (name: string): string => query.ExpressionAttributeNames?.[name] ?? name;
  const given = (name: string): string => {
    const text = stringIn(query.ExpressionAttributeValues, name);
    if (text === undefined) throw new Error(`a query whose value ${name} is no string`);
    return text;
  };
  const isKnown = named(hash) === index.partition && (sort === undefined || named(sort) === index.sort);
  if (!isKnown) throw new Error(`the key condition ${query.KeyConditionExpression}`);
  const wanted = given(value);
  const range = sort === undefined ? undefined : { from: given(from), to: given(to) };
  return (image) => {
    const at = index.sort === undefined ? "" : stringIn(image, index.sort);
    if (stringIn(image, index.partition) !== wanted || at === undefined) return false;
    return range === undefined || (at >= range.from && at <= range.to);
  };
};

const page = z.object({ Items: z.array(item).default([]), LastEvaluatedKey: item.optional() });

/** All that the emulator finds, whatever page was asked for. */
const everything = async (forward: Forward, query: QueryBody): Promise<readonly Item[]> => {
  const { Limit: _limit, ExclusiveStartKey: _start, ScanIndexForward: _forward, ...whole } = query;
  const found: Item[] = [];
  let start: Item | undefined;
  do {
    const { status, body } = await forward("Query", JSON.stringify({ ...whole, ExclusiveStartKey: start }));
    if (status !== 200) throw new Error(`The emulator refused a query: ${body}`);
    const { Items, LastEvaluatedKey } = page.parse(JSON.parse(body));
    found.push(...Items);
    start = LastEvaluatedKey;
  } while (start !== undefined);
  return found;
};

const projected = (image: Item, { attributes }: IndexShape): Item => only(image, attributes);

const only = (image: Item, attributes: readonly string[]): Item =>
  Object.fromEntries(Object.entries(image).filter(([name]) => attributes.includes(name)));
