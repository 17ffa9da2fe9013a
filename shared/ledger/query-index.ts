import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { keyBatches } from "./get-item.ts";
import type { Table } from "./ledger.ts";
import { decodePageCursor, encodePageCursor } from "./page-cursor.ts";
import {
  ACCOUNTS_OWNER,
  accountIdOf,
  isTransactionPk,
  ledgerIndexes,
  OPEN_TRANSACTION,
  PARKED_ACCOUNTS,
  subscriptionsTo,
  WAITING,
  waitingOrders,
} from "./schema.ts";

/** The attributes that the indexes by time have of an item. */
export const indexKeySchema = z.object({ pk: z.string().min(1), created_at: z.iso.datetime() });
export type IndexKey = z.infer<typeof indexKeySchema>;

/** A place in an index as opaque text: the `cursor` of a page. */
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

/** The items whose `owner` or `open` has this value (schema.ts). */
type Selection = { readonly owner: string } | { readonly open: string };
type Page = { readonly keys: readonly IndexKey[]; readonly next: IndexKey | undefined };

/**
 * One page of an index by time: as many items as DynamoDB returns, oldest first; at most `oldest`, or the newest ones,
 * as many as `newest`. Indexes lag behind the table by moments.
 */
export const queryPage = async (
  { db, table }: Table,
  selection: Selection,
  { from, to }: TimeRange,
  start?: IndexKey,
  limits: { readonly oldest?: number; readonly newest?: number } = {},
): Promise<Page> => {
  const { name, partition } = "owner" in selection ? ledgerIndexes.byOwner : ledgerIndexes.byOpen;
  const value = "owner" in selection ? selection.owner : selection.open;
  const { Items, LastEvaluatedKey } = await db.send(
    new QueryCommand({
      TableName: table,
      IndexName: name,
      KeyConditionExpression: "#partition = :partition AND created_at BETWEEN :from AND :to",
      ExpressionAttributeNames: { "#partition": partition },
      ExpressionAttributeValues: { ":partition": value, ":from": from, ":to": to },
      ...(limits.oldest !== undefined && { Limit: limits.oldest }),
      ...(limits.newest !== undefined && { ScanIndexForward: false, Limit: limits.newest }),
      ...(start && { ExclusiveStartKey: { pk: start.pk, created_at: start.created_at, [partition]: value } }),
    }),
  );
  return {
    keys: z.array(indexKeySchema).parse(Items ?? []),
    next: LastEvaluatedKey && indexKeySchema.parse(LastEvaluatedKey),
  };
};

async function* queryPages(
  table: Table,
  selection: Selection,
  range: TimeRange,
): AsyncGenerator<readonly IndexKey[], void, void> {
  let start: IndexKey | undefined;
  do {
    const { keys, next } = await queryPage(table, selection, range, start);
    yield keys;
    start = next;
  } while (start !== undefined);
}

const queryAll = async (table: Table, selection: Selection, range: TimeRange): Promise<readonly IndexKey[]> => {
  const keys: IndexKey[] = [];
  for await (const page of queryPages(table, selection, range)) keys.push(...page);
  return keys;
};

/** The keys of an owner's items (an account's transactions or entries, the accounts themselves), oldest first. */
export const ownedKeys = (table: Table, owner: string, range: TimeRange): Promise<readonly IndexKey[]> =>
  queryAll(table, { owner }, range);

/** The same keys, in batches that one read can take. */
export async function* ownedKeyBatches(
  table: Table,
  owner: string,
  range: TimeRange,
): AsyncGenerator<readonly IndexKey[], void, void> {
  for await (const page of queryPages(table, { owner }, range)) {
    yield* keyBatches(page);
  }
}

/** The keys of live transactions that are `processing`, oldest first. */
export const openKeys = (table: Table, range: TimeRange): Promise<readonly IndexKey[]> =>
  queryAll(table, { open: OPEN_TRANSACTION }, range);

/**
 * The keys of the wallets that have waiting orders, the one whose last turn was the longest ago first; and those of the
 * orders that were set aside, oldest first.
 */
export const waitingKeys = async (
  table: Table,
): Promise<{ readonly wallets: readonly IndexKey[]; readonly setAside: readonly IndexKey[] }> => {
  const keys = await queryAll(table, { open: WAITING }, ALL_TIMES);
  return {
    wallets: keys.filter(({ pk }) => !isTransactionPk(pk)),
    setAside: keys.filter(({ pk }) => isTransactionPk(pk)),
  };
};

/** The keys of an account's waiting orders, oldest first. */
export const waitingOrderKeys = (table: Table, accountId: string): Promise<readonly IndexKey[]> =>
  queryAll(table, { open: waitingOrders(accountId) }, ALL_TIMES);

/** The keys of the accounts whose parked deliveries are due until `to`, the longest due first, page by page. */
export const dueParkedAccountKeys = (table: Table, to: string): AsyncGenerator<readonly IndexKey[], void, void> =>
  queryPages(table, { open: PARKED_ACCOUNTS }, { from: ALL_TIMES.from, to });

/** The keys of the subscriptions to an event, oldest first, in batches that one read can take. */
export async function* subscriptionKeyBatches(
  table: Table,
  event: string,
): AsyncGenerator<readonly IndexKey[], void, void> {
  for await (const page of queryPages(table, { open: subscriptionsTo(event) }, ALL_TIMES)) yield* keyBatches(page);
}

export type IndexedAccount = { readonly account_id: string; readonly created_at: string };

/** All accounts as the index has them, oldest first, read page by page. */
export async function* indexedAccounts(table: Table): AsyncGenerator<IndexedAccount, void, void> {
  for await (const page of queryPages(table, { owner: ACCOUNTS_OWNER }, ALL_TIMES)) {
    for (const { pk, created_at } of page) yield { account_id: accountIdOf(pk), created_at };
  }
}

/** The ids of all accounts, oldest first. */
export const accountIdsOf = async (table: Table): Promise<readonly string[]> =>
  (await ownedKeys(table, ACCOUNTS_OWNER, ALL_TIMES)).map(({ pk }) => accountIdOf(pk));
