import type { QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "#zod";
import { lazyObject } from "../contract/lazy-object.ts";
import { mapInOrder } from "../platform/map-in-order.ts";
import { BATCHES_AT_ONCE, keyBatches, projectionOf } from "./get-item.ts";
import type { Table } from "./ledger.ts";
import { decodePageCursor, encodePageCursor } from "./page-cursor.ts";
import {
  ACCOUNTS_LIST,
  accountIdOf,
  isTransactionPk,
  ledgerIndexes,
  OPEN_EVENTS,
  OPEN_PROPOSALS,
  openLists,
  PARKED_ENDPOINTS,
  QUEUED,
  queuedOrders,
  subscriptionsTo,
} from "./schema.ts";

/** The attributes that the index by_list has of an item. */
export const indexKeySchema = lazyObject(() => ({
  pk: z.string().check(z.minLength(1)),
  created_at: z.iso.datetime(),
}));
export type IndexKey = z.infer<typeof indexKeySchema>;

/** The attributes that the index by_open has of an item. */
export const openKeySchema = lazyObject(() => ({ pk: z.string().check(z.minLength(1)), listed_at: z.iso.datetime() }));
export type OpenKey = z.infer<typeof openKeySchema>;

/** A place in a list as opaque text: the `cursor` of a page. */
export const encodeIndexKey = ({ pk, created_at }: IndexKey): string => encodePageCursor({ pk, created_at });

/** Undefined if the text is not the place of such an item. */
export const decodeIndexKey = (text: string, isItemPk: (pk: string) => boolean): IndexKey | undefined => {
  const key = decodePageCursor(indexKeySchema, text);
  return key !== undefined && isItemPk(key.pk) ? key : undefined;
};

/** Times as the indexes have them, both inclusive. */
export type TimeRange = { readonly from: string; readonly to: string };
export const ALL_TIMES: TimeRange = { from: "0000", to: "9999-12-31T23:59:59.999Z" };

/** Items older than this are in the index: a request ends after 29 s, and the index lags by moments. */
export const INDEXED_AGE_MS = 120_000;

type Page<Key> = { readonly keys: readonly Key[]; readonly next: Key | undefined };
type PageLimits = { readonly oldest?: number; readonly newest?: number };
type QueryPage<Key> = (
  table: Table,
  list: string,
  range: TimeRange,
  start?: Key,
  limits?: PageLimits,
) => Promise<Page<Key>>;

type Index = { readonly name: string; readonly partition: string; readonly sort: string };

/** A schema whose attributes the index has: DynamoDB refuses a query for others. */
type Listed<Item> = z.ZodMiniType<Item> & { readonly shape: object };

/** With keys alone where others are not wanted: parsing the others would be most of the work. */
type Wanted = "keys" | "everything";

/** One page: `count` items were read, and `items` parses them. */
export type ListedItems<Item, Key> = {
  readonly count: number;
  readonly items: () => readonly Item[];
  readonly next: Key | undefined;
};

/** One page of an index. It is empty only at the end: an empty one of DynamoDB is none, and may have another behind it. */
export const queryIndex = async <Item, Key extends object>(
  { name, partition, sort }: Index,
  wanted: Wanted,
  [itemSchema, keySchema]: readonly [z.ZodMiniType<Item>, Listed<Key>],
  { db, table }: Table,
  list: string,
  { from, to }: TimeRange,
  start: Key | undefined,
  limits: PageLimits,
): Promise<ListedItems<Item, Key>> => {
  const { ExpressionAttributeNames: names, ...projection } =
    wanted === "keys" ? projectionOf(Object.keys(keySchema.shape)) : {};
  const query: QueryCommandInput = {
    TableName: table,
    IndexName: name,
    ...projection,
    KeyConditionExpression: "#partition = :partition AND #sort BETWEEN :from AND :to",
    ExpressionAttributeNames: { ...names, "#partition": partition, "#sort": sort },
    ExpressionAttributeValues: { ":partition": list, ":from": from, ":to": to },
    ...(limits.newest !== undefined && { ScanIndexForward: false }),
    Limit: limits.newest ?? limits.oldest,
  };
  let next = start;
  for (;;) {
    const place = next && { ...keySchema.parse(next), [partition]: list };
    const page = await db.query({ ...query, ExclusiveStartKey: place });
    const count = page.Count ?? 0;
    next = page.LastEvaluatedKey && keySchema.parse(page.LastEvaluatedKey);
    if (count > 0 || next === undefined)
      return { count, items: () => z.array(itemSchema).parse(page.Items ?? []), next };
  }
};

const queryPageOf =
  <Key extends object>(index: Index, keySchema: Listed<Key>): QueryPage<Key> =>
  async (table, list, range, start, limits = {}) => {
    const schemas = [keySchema, keySchema] as const;
    const { items, next } = await queryIndex(index, "keys", schemas, table, list, range, start, limits);
    return { keys: items(), next };
  };

/**
 * One page of the items whose `list_key` has this value (schema.ts): as many as DynamoDB returns, oldest first; at most
 * `oldest`, or the newest ones, as many as `newest`. Indexes lag behind the table by moments.
 */
export const queryList = queryPageOf(ledgerIndexes.byList, indexKeySchema);

/**
 * The same, oldest first, for files: items of one time are by their keys, whatever order the index has them in. So a page
 * has whole milliseconds, and more than `oldest` only if that is one.
 */
export const queryListInOrder = async (
  table: Table,
  list: string,
  range: TimeRange,
  start: IndexKey | undefined,
  oldest: number,
): Promise<Page<IndexKey>> => {
  const keys: IndexKey[] = [];
  for (let next = start; ; ) {
    const page = await queryList(table, list, range, next, { oldest });
    keys.push(...page.keys);
    next = page.next;
    if (next === undefined) return { keys: keys.toSorted(byTimeAndKey), next };
    const last = keys.at(-1)?.created_at ?? "";
    const whole = keys.filter(({ created_at }) => created_at < last);
    if (whole.length > 0) return { keys: whole.toSorted(byTimeAndKey), next: whole.at(-1) };
  }
};

const byTimeAndKey = (one: IndexKey, other: IndexKey): number =>
  one.created_at + one.pk < other.created_at + other.pk ? -1 : 1;

/** The same, oldest first, with what the index has of its items beside the keys, of which statements use nearly all. */
export const queryListedItems = <Item>(
  table: Table,
  list: string,
  range: TimeRange,
  start: IndexKey | undefined,
  oldest: number,
  schema: z.ZodMiniType<Item>,
): Promise<ListedItems<Item, IndexKey>> =>
  queryIndex(ledgerIndexes.byList, "everything", [schema, indexKeySchema], table, list, range, start, { oldest });

/** The same of the orders whose `phone_key` has this value. */
export const queryPhone = queryPageOf(ledgerIndexes.byPhone, indexKeySchema);

/** The same of the consents whose `subject` has this value. */
export const querySubject = queryPageOf(ledgerIndexes.bySubject, indexKeySchema);

/** The same of the items whose `open` has this value, by `listed_at`. */
export const queryOpen = queryPageOf(ledgerIndexes.byOpen, openKeySchema);

async function* pagesOf<Key>(
  query: QueryPage<Key>,
  table: Table,
  list: string,
  range: TimeRange,
): AsyncGenerator<readonly Key[], void, void> {
  let start: Key | undefined;
  do {
    const { keys, next } = await query(table, list, range, start);
    yield keys;
    start = next;
  } while (start !== undefined);
}

const keysOf = async <Key>(...read: Parameters<typeof pagesOf<Key>>): Promise<readonly Key[]> =>
  (await Array.fromAsync(pagesOf(...read))).flat();

/** The keys of a list's items (an account's transactions or entries, the accounts themselves), oldest first. */
export const listKeys = (table: Table, list: string, range: TimeRange): Promise<readonly IndexKey[]> =>
  keysOf(queryList, table, list, range);

/** The same keys, in batches that one read can take. */
export async function* listKeyBatches(
  table: Table,
  list: string,
  range: TimeRange,
): AsyncGenerator<readonly IndexKey[], void, void> {
  for await (const page of pagesOf(queryList, table, list, range)) yield* keyBatches(page);
}

/** The keys of the orders for the phone number that has this key, oldest first. */
export const phoneOrderKeys = (table: Table, phoneKey: string, range: TimeRange): Promise<readonly IndexKey[]> =>
  keysOf(queryPhone, table, phoneKey, range);

/** The keys of live transactions that are `processing`, oldest first. */
export const openKeys = async (table: Table, range: TimeRange): Promise<readonly OpenKey[]> => {
  const lists = mapInOrder(openLists, BATCHES_AT_ONCE, (name) => keysOf(queryOpen, table, name, range));
  return (await Array.fromAsync(lists)).flat().toSorted((one, other) => (one.listed_at < other.listed_at ? -1 : 1));
};

/**
 * The keys of the wallets that have queued orders, the one whose last turn was the longest ago first; and those of the
 * orders that were set aside, oldest first.
 */
export const queuedKeys = async (
  table: Table,
): Promise<{ readonly wallets: readonly OpenKey[]; readonly setAside: readonly OpenKey[] }> => {
  const keys = await keysOf(queryOpen, table, QUEUED, ALL_TIMES);
  return {
    wallets: keys.filter(({ pk }) => !isTransactionPk(pk)),
    setAside: keys.filter(({ pk }) => isTransactionPk(pk)),
  };
};

/** The keys of the proposals that nobody has decided and that expire in the range, the next one to expire first. */
export const openProposalKeys = (table: Table, range: TimeRange): Promise<readonly OpenKey[]> =>
  keysOf(queryOpen, table, OPEN_PROPOSALS, range);

/** The keys of the upstream events that wait for an operator, oldest first. */
export const openEventKeys = (table: Table): Promise<readonly OpenKey[]> =>
  keysOf(queryOpen, table, OPEN_EVENTS, ALL_TIMES);

/** The keys of an account's queued orders, oldest first. */
export const queuedOrderKeys = (table: Table, accountId: string, range = ALL_TIMES): Promise<readonly OpenKey[]> =>
  keysOf(queryOpen, table, queuedOrders(accountId), range);

/** The keys of all orders that wait, in the queues of their accounts or set aside. */
export const waitingOrderKeys = async (table: Table, range = ALL_TIMES): Promise<readonly OpenKey[]> => {
  const { wallets, setAside } = await queuedKeys(table);
  const queues = mapInOrder(wallets, BATCHES_AT_ONCE, ({ pk }) => queuedOrderKeys(table, accountIdOf(pk), range));
  const isInRange = ({ listed_at }: OpenKey): boolean => listed_at >= range.from && listed_at <= range.to;
  return [...setAside.filter(isInRange), ...(await Array.fromAsync(queues)).flat()];
};

/** The keys of the endpoints whose parked deliveries are due until `to`, the longest due first, page by page. */
export const dueParkedEndpointKeys = (table: Table, to: string): AsyncGenerator<readonly OpenKey[], void, void> =>
  pagesOf(queryOpen, table, PARKED_ENDPOINTS, { from: ALL_TIMES.from, to });

/** The keys of the subscriptions to an event, oldest first, in batches that one read can take. */
export async function* subscriptionKeyBatches(
  table: Table,
  event: string,
): AsyncGenerator<readonly OpenKey[], void, void> {
  for await (const page of pagesOf(queryOpen, table, subscriptionsTo(event), ALL_TIMES)) yield* keyBatches(page);
}

export type IndexedAccount = { readonly account_id: string; readonly created_at: string };

/** All accounts as the index has them, oldest first, read page by page. */
export async function* indexedAccounts(table: Table): AsyncGenerator<IndexedAccount, void, void> {
  for await (const page of pagesOf(queryList, table, ACCOUNTS_LIST, ALL_TIMES)) {
    for (const { pk, created_at } of page) yield { account_id: accountIdOf(pk), created_at };
  }
}

/** The ids of all accounts that were created until then, oldest first. */
export const accountIdsOf = async (table: Table, to = ALL_TIMES.to): Promise<readonly string[]> =>
  (await listKeys(table, ACCOUNTS_LIST, { from: ALL_TIMES.from, to })).map(({ pk }) => accountIdOf(pk));
