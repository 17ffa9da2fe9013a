import * as z from "#zod";
import type { FormerImage } from "./history.ts";
import { type IndexShape, type Item, item, stringIn, type TableShape } from "./items.ts";
import type { Forward, WireAnswer } from "./wire.ts";

/** Strict: whatever else a query may hold would be ignored silently. */
const queryBody = z.strictObject({
  TableName: z.string(),
  IndexName: z.string(),
  ProjectionExpression: z.optional(z.string()),
  KeyConditionExpression: z.string(),
  ExpressionAttributeNames: z.optional(z.record(z.string(), z.string())),
  ExpressionAttributeValues: item,
  ScanIndexForward: z._default(z.boolean(), true),
  Limit: z.optional(z.int().check(z.positive())),
  ExclusiveStartKey: z.optional(item),
  ReturnConsumedCapacity: z.optional(z.string()),
});
type QueryBody = z.infer<typeof queryBody>;

const CONDITION = /^([#\w]+) = (:\w+)(?: AND ([#\w]+) BETWEEN (:\w+) AND (:\w+))?$/;

/**
 * Answers a query of an index that shows some items as they were: what the emulator has, with those items replaced by
 * their former images. Undefined where that makes no difference, so that the emulator's own answer will do.
 */
export const laggingQuery = async (
  forward: Forward,
  { partition, sort: ownSort, indexes }: TableShape,
  body: unknown,
  behind: ReadonlyMap<string, FormerImage>,
): Promise<WireAnswer | undefined> => {
  const parsed = queryBody.safeParse(body);
  if (!parsed.success) throw new Error(`a query of this form: ${parsed.error.message}`);
  const query = parsed.data;
  const index = indexes.find(({ name }) => name === query.IndexName);
  if (index === undefined) throw new Error(`a query of ${query.IndexName}`);
  const belongs = conditionOf(query, index);
  const attributes = attributesOf(query, index);

  const ownKey = ownSort === undefined ? [partition] : [partition, ownSort];
  const keyOf = (of: Item): string => JSON.stringify(ownKey.map((attribute) => stringIn(of, attribute)));
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
    .map((image) => ({ image, place: placeOf(image) }))
    .toSorted((one, other) => (one.place < other.place ? -direction : direction))
    .filter(({ place }) => after === undefined || (query.ScanIndexForward ? place > after : place < after))
    .map(({ image }) => image);
  const taken = rest.slice(0, query.Limit);
  const last = taken.at(-1);
  const isCut = last !== undefined && taken.length === query.Limit;
  const keyAttributes = [...ownKey, index.partition, ...(index.sort === undefined ? [] : [index.sort])];
  return {
    status: 200,
    body: JSON.stringify({
      Items: taken.map((image) => only(image, attributes)),
      Count: taken.length,
      ScannedCount: taken.length,
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

const page = z.object({ Items: z._default(z.array(item), []), LastEvaluatedKey: z.optional(item) });

/** All that the emulator finds, whatever page was asked for. */
const everything = async (forward: Forward, query: QueryBody): Promise<readonly Item[]> => {
  const { TableName, IndexName, KeyConditionExpression, ExpressionAttributeValues } = query;
  const names = Object.entries(query.ExpressionAttributeNames ?? {});
  const used = names.filter(([name]) => KeyConditionExpression.includes(name));
  const ExpressionAttributeNames = used.length > 0 ? Object.fromEntries(used) : undefined;
  const whole = { TableName, IndexName, KeyConditionExpression, ExpressionAttributeNames, ExpressionAttributeValues };
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

/** What the query returns of each item. DynamoDB refuses a query for attributes that its index does not have. */
const attributesOf = (query: QueryBody, { attributes }: IndexShape): readonly string[] => {
  const asked = query.ProjectionExpression?.split(", ").map((name) => query.ExpressionAttributeNames?.[name] ?? name);
  const missing = asked?.filter((name) => !attributes.includes(name)) ?? [];
  if (missing.length > 0) throw new Error(`a query for ${missing.join()}, which ${query.IndexName} does not have`);
  return asked ?? attributes;
};

const only = (image: Item, attributes: readonly string[]): Item =>
  Object.fromEntries(Object.entries(image).filter(([name]) => attributes.includes(name)));
