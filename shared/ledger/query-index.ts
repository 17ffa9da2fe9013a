import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { mapInOrder } from "../platform/map-in-order.ts";
import { BATCHES_AT_ONCE, keyBatches } from "./get-item.ts";
import type { Table } from "./ledger.ts";
import { decodePageCursor, encodePageCursor } from "./page-cursor.ts";
import {
  ACCOUNTS_LIST,
  accountIdOf,
  isTransactionPk,
  ledgerIndexes,
  openLists,
  PARKED_ACCOUNTS,
  QUEUED,
  queuedOrders,
  subscriptionsTo,
} from "./schema.ts";

/** The attributes that the index by_list has of an item. */
export const indexKeySchema = z.object({ pk: z.string().min(1), created_at: z.iso.datetime() });
export type IndexKey = z.infer<typeof indexKeySchema>;

/** The attributes that the index by_open has of an item. */
export const openKeySchema = z.object({ pk: z.string().min(1), listed_at: z.iso.datetime() });
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
export const ALL_TIMES: TimeRange = { from: "0000", to: "9999" };

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

/** One page of an index as DynamoDB returns it. */
const queryIndex = (
  { name, partition, sort }: Index,
  { db, table }: Table,
  list: string,
  { from, to }: TimeRange,
  start: object | undefined,
  limits: PageLimits,
) =>
  db.send(
    new QueryCommand({
      TableName: table,
      IndexName: name,
      KeyConditionExpression: "#partition = :partition AND #sort BETWEEN :from AND :to",
      ExpressionAttributeNames: { "#partition": partition, "#sort": sort },
      ExpressionAttributeValues: { ":partition": list, ":from": from, ":to": to },
      ...(limits.oldest !== undefined && { Limit: limits.oldest }),
      ...(limits.newest !== undefined && { ScanIndexForward: false, Limit: limits.newest }),
      ...(start && { ExclusiveStartKey: { ...start, [partition]: list } }),
    }),
  );

const queryPageOf =
  <Key extends object>(index: Index, keySchema: z.ZodType<Key>): QueryPage<Key> =>
  async (table, list, range, start, limits = {}) => {
    const startKey = start && keySchema.parse(start);
    const { Items = [], LastEvaluatedKey } = await queryIndex(index, table, list, range, startKey, limits);
    return { keys: z.array(keySchema).parse(Items), next: LastEvaluatedKey && keySchema.parse(LastEvaluatedKey) };
  };

/**
 * One page of the items whose `list_key` has this value (schema.ts): as many as DynamoDB returns, oldest first; at most
 * `oldest`, or the newest ones, as many as `newest`. Indexes lag behind the table by moments.
 */
export const queryList = queryPageOf(ledgerIndexes.byList, indexKeySchema);

/** The same, oldest first, with attributes that the index has of its items beside the keys. */
export const queryListedItems = async <Item>(
  table: Table,
  list: string,
  range: TimeRange,
  start: IndexKey | undefined,
  oldest: number,
  schema: z.ZodType<Item>,
): Promise<{ readonly items: readonly Item[]; readonly next: IndexKey | undefined }> => {
  const { byList } = ledgerIndexes;
  const { Items = [], LastEvaluatedKey } = await queryIndex(byList, table, list, range, start, { oldest });
  return { items: z.array(schema).parse(Items), next: LastEvaluatedKey && indexKeySchema.parse(LastEvaluatedKey) };
};

/** The same of the orders whose `phone_key` has this value. */
export const queryPhone = queryPageOf(ledgerIndexes.byPhone, indexKeySchema);

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

const allOf = async <Key>(
  query: QueryPage<Key>,
  table: Table,
  list: string,
  range: TimeRange,
): Promise<readonly Key[]> => {
  const keys: Key[] = [];
  for await (const page of pagesOf(query, table, list, range)) keys.push(...page);
  return keys;
};

/** The keys of a list's items (an account's transactions or entries, the accounts themselves), oldest first. */
export const listKeys = (table: Table, list: string, range: TimeRange): Promise<readonly IndexKey[]> =>
  allOf(queryList, table, list, range);

/** The same keys, in batches that one read can take. */
export async function* listKeyBatches(
  table: Table,
  list: string,
  range: TimeRange,
): AsyncGenerator<readonly IndexKey[], void, void> {
  for await (const page of pagesOf(queryList, table, list, range)) yield* keyBatches(page);
}

/** The keys of live transactions that are `processing`, oldest first. */
export const openKeys = async (table: Table, range: TimeRange): Promise<readonly OpenKey[]> => {
  const keys: OpenKey[] = [];
  for await (const list of mapInOrder(openLists, BATCHES_AT_ONCE, (name) => allOf(queryOpen, table, name, range))) {
    keys.push(...list);
  }
  return keys.toSorted((one, other) => (one.listed_at < other.listed_at ? -1 : 1));
};

/**
 * The keys of the wallets that have queued orders, the one whose last turn was the longest ago first; and those of the
 * orders that were set aside, oldest first.
 */
export const queuedKeys = async (
  table: Table,
): Promise<{ readonly wallets: readonly OpenKey[]; readonly setAside: readonly OpenKey[] }> => {
  const keys = await allOf(queryOpen, table, QUEUED, ALL_TIMES);
  return {
    wallets: keys.filter(({ pk }) => !isTransactionPk(pk)),
    setAside: keys.filter(({ pk }) => isTransactionPk(pk)),
  };
};

/** The keys of an account's queued orders, oldest first. */
export const queuedOrderKeys = (table: Table, accountId: string): Promise<readonly OpenKey[]> =>
  allOf(queryOpen, table, queuedOrders(accountId), ALL_TIMES);

/** The keys of the accounts whose parked deliveries are due until `to`, the longest due first, page by page. */
export const dueParkedAccountKeys = (table: Table, to: string): AsyncGenerator<readonly OpenKey[], void, void> =>
  pagesOf(queryOpen, table, PARKED_ACCOUNTS, { from: ALL_TIMES.from, to });

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

/** The ids of all accounts, oldest first. */
export const accountIdsOf = async (table: Table): Promise<readonly string[]> =>
  (await listKeys(table, ACCOUNTS_LIST, ALL_TIMES)).map(({ pk }) => accountIdOf(pk));
