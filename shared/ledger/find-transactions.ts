import { GetCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { PAGE_TRANSACTIONS_MAX } from "../contract/limits.ts";
import type { Mode, TransactionQuery } from "../contract/transaction.ts";
import type { KeyedHashes } from "../platform/keyed-hashes.ts";
import { readItems } from "./batch-read.ts";
import { indexKey, type TimeRange } from "./owner-index.ts";
import type { Ledger } from "./transact.ts";
import {
  pkOfReference,
  referenceOf,
  type Transaction,
  transactionOwner,
  transactionPk,
  transactionSchema,
} from "./transaction.ts";

export type Owner = { readonly accountId: string; readonly mode: Mode };

/** The item with this key, read strongly, whoever owns it. */
export const readTransaction = async ({ db, table }: Ledger, pk: string): Promise<Transaction | undefined> => {
  const { Item } = await db.send(new GetCommand({ TableName: table, Key: { pk }, ConsistentRead: true }));
  return Item && transactionSchema.parse(Item);
};

/** What stands under the caller's own reference. */
export const findByCallerReference = (ledger: Ledger, keyedHashes: KeyedHashes, owner: Owner, reference: string) =>
  readTransaction(ledger, transactionPk(keyedHashes.transactionId({ ...owner, reference })));

/** By our reference first, then by the caller's. Another account's or mode's is not found. */
export const findTransaction = async (
  ledger: Ledger,
  keyedHashes: KeyedHashes,
  owner: Owner,
  reference: string,
): Promise<Transaction | undefined> => {
  const pk = pkOfReference(reference);
  const ours = pk && (await readTransaction(ledger, pk));
  if (ours && ours.owner === transactionOwner(owner.accountId, owner.mode) && referenceOf(ours) === reference)
    return ours;
  return findByCallerReference(ledger, keyedHashes, owner, reference);
};

const cursorSchema = z.object({ pk: z.string().startsWith(transactionPk("")), created_at: z.iso.datetime() });
type Cursor = z.infer<typeof cursorSchema>;

export const encodeCursor = ({ pk, created_at }: Cursor): string =>
  Buffer.from(JSON.stringify({ pk, created_at })).toString("base64url");

/** Undefined where the text is no cursor of ours. */
export const decodeCursor = (text: string): Cursor | undefined => {
  try {
    return cursorSchema.parse(JSON.parse(Buffer.from(text, "base64url").toString("utf8")));
  } catch {
    return undefined;
  }
};

/** Keys looked at for one page, so that a filter that matches little does not read a whole ledger in one request. */
const KEYS_PER_REQUEST_MAX = 500;

/** The range of a list. A date alone means that whole day, in UTC. Undefined where nothing can lie in between. */
export const timeRange = ({ from, to }: Pick<TransactionQuery, "from" | "to">): TimeRange | undefined => {
  const isDateOnly = (moment: string): boolean => moment.length === "2026-11-21".length;
  const range = {
    from: from === undefined ? "0000" : new Date(from).toISOString(),
    to: to === undefined ? "9999" : isDateOnly(to) ? `${to}T23:59:59.999Z` : new Date(to).toISOString(),
  };
  return range.from <= range.to ? range : undefined;
};

export type TransactionList = { readonly transactions: readonly Transaction[]; readonly next: Cursor | undefined };

/** One page, newest first. A page may be short although `next` is set: the filters are applied after the index is read. */
export const listTransactions = async (
  ledger: Ledger,
  owner: Owner,
  filter: Pick<TransactionQuery, "status" | "type">,
  range: TimeRange,
  start: Cursor | undefined,
): Promise<TransactionList> => {
  const transactions: Transaction[] = [];
  let from = start;
  for (let seen = 0; seen < KEYS_PER_REQUEST_MAX; seen += PAGE_TRANSACTIONS_MAX) {
    const page = await queryKeys(ledger, owner, range, from);
    for (const transaction of await readTransactions(ledger, page.keys)) {
      if (filter.status !== undefined && transaction.status !== filter.status) continue;
      if (filter.type !== undefined && transaction.type !== filter.type) continue;
      transactions.push(transaction);
      // The page is full: the next one starts behind this transaction.
      if (transactions.length === PAGE_TRANSACTIONS_MAX) return { transactions, next: transaction };
    }
    from = page.next;
    if (from === undefined) break;
  }
  return { transactions, next: from };
};

const queryKeys = async (
  { db, table }: Ledger,
  owner: Owner,
  { from, to }: TimeRange,
  start: Cursor | undefined,
): Promise<{ readonly keys: readonly Cursor[]; readonly next: Cursor | undefined }> => {
  const partition = transactionOwner(owner.accountId, owner.mode);
  const { Items, LastEvaluatedKey } = await db.send(
    new QueryCommand({
      TableName: table,
      IndexName: "by_owner",
      KeyConditionExpression: "#owner = :owner AND created_at BETWEEN :from AND :to",
      ExpressionAttributeNames: { "#owner": "owner" },
      ExpressionAttributeValues: {
        ":owner": partition,
        ":from": from,
        ":to": to,
      },
      ScanIndexForward: false,
      Limit: PAGE_TRANSACTIONS_MAX,
      ...(start && { ExclusiveStartKey: { pk: start.pk, created_at: start.created_at, owner: partition } }),
    }),
  );
  return {
    keys: z.array(indexKey).parse(Items ?? []),
    next: LastEvaluatedKey && indexKey.parse(LastEvaluatedKey),
  };
};

/** The transactions of these keys, read strongly, in the keys' order. */
export const readTransactions = (
  ledger: Ledger,
  keys: readonly { readonly pk: string }[],
): Promise<readonly Transaction[]> => readItems(ledger, keys, transactionSchema);
