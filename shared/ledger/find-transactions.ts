import * as z from "#zod";
import { lazyObject } from "../contract/lazy-object.ts";
import type { Mode } from "../contract/transaction.ts";
import type { KeyedHashes } from "../platform/keyed-hashes.ts";
import { errorFields, log } from "../platform/log.ts";
import { getItem, getItemBatches, getItems, type ItemName, keyBatches } from "./get-item.ts";
import type { Ledger } from "./ledger.ts";
import {
  ALL_TIMES,
  type IndexKey,
  type OpenKey,
  openKeys,
  phoneOrderKeys,
  queryPhone,
  type TimeRange,
} from "./query-index.ts";
import { ledgerIndexes, transactionList, transactionPk } from "./schema.ts";
import { pkOfReference, referenceOf, type Transaction, transactionSchema } from "./transaction.ts";

/** An account, and the mode of its transactions. */
export type AccountMode = { readonly accountId: string; readonly mode: Mode };

/** The transaction with this key, read strongly, of any account. */
export const readTransaction = (ledger: Ledger, pk: string): Promise<Transaction | undefined> =>
  getItem(ledger, pk, transactionSchema);

/** The transactions of these keys, read strongly, in the keys' order. */
export const readTransactions = (ledger: Ledger, names: readonly ItemName[]): Promise<readonly Transaction[]> =>
  getItems(ledger, names, transactionSchema);

/** The transaction that the account made under its own reference. */
export const findByCallerReference = (
  ledger: Ledger,
  keyedHashes: KeyedHashes,
  accountMode: AccountMode,
  callerReference: string,
): Promise<Transaction | undefined> =>
  readTransaction(ledger, transactionPk(keyedHashes.transactionId({ ...accountMode, callerReference })));

/** Finds a transaction by our reference, which must be equal as a whole. */
export const findByOwnReference = async (ledger: Ledger, reference: string): Promise<Transaction | undefined> => {
  const pk = pkOfReference(reference);
  const transaction = pk === undefined ? undefined : await readTransaction(ledger, pk);
  return transaction !== undefined && referenceOf(transaction) === reference ? transaction : undefined;
};

/** The account's transaction with this reference of ours. A text that has not its form is not looked up. */
export const findOwn = async (
  ledger: Ledger,
  { accountId, mode }: AccountMode,
  reference: string,
): Promise<Transaction | undefined> => {
  const transaction = await findByOwnReference(ledger, reference);
  return transaction?.list_key === transactionList(accountId, mode) ? transaction : undefined;
};

/** By our reference first, then by the caller's. A transaction of another account or mode is not found. */
export const findTransaction = async (
  ledger: Ledger,
  keyedHashes: KeyedHashes,
  accountMode: AccountMode,
  reference: string,
): Promise<Transaction | undefined> =>
  (await findOwn(ledger, accountMode, reference)) ??
  (await findByCallerReference(ledger, keyedHashes, accountMode, reference));

/** The attributes that the index by upstream reference has of a transaction. */
const indexedTransactionSchema = lazyObject(
  () =>
    z.pick(transactionSchema, {
      pk: true,
      status: true,
      mode: true,
      write_token: true,
      account_id: true,
      amount_kobo: true,
      counted: true,
      face_kobo: true,
      cost_kobo: true,
    }).shape,
);
export type IndexedTransaction = z.infer<typeof indexedTransactionSchema>;

/** The transactions with this upstream reference. The index lags behind the table by moments. */
export const findByUpstreamReference = async (
  { db, table }: Ledger,
  upstreamReference: string,
): Promise<readonly IndexedTransaction[]> => {
  const { name, partition } = ledgerIndexes.byUpstreamReference;
  const { Items = [] } = await db.query({
    TableName: table,
    IndexName: name,
    KeyConditionExpression: `${partition} = :reference`,
    ExpressionAttributeValues: { ":reference": upstreamReference },
  });
  return z.array(indexedTransactionSchema).parse(Items);
};

/** The most pages of one search: 1,000 orders for one number. */
const PHONE_PAGES_MAX = 20;

/** The newest wanted orders for a phone number that is not masked yet, newest first, at most `newest`. */
export const findByPhone = async (
  ledger: Ledger,
  keyedHashes: KeyedHashes,
  phoneNumber: string,
  isWanted: (transaction: Transaction) => boolean,
  newest: number,
): Promise<readonly Transaction[]> => {
  const phoneKey = keyedHashes.phoneKey(phoneNumber);
  const found: Transaction[] = [];
  let start: IndexKey | undefined;
  for (let page = 1; page <= PHONE_PAGES_MAX; page += 1) {
    const { keys, next } = await queryPhone(ledger, phoneKey, ALL_TIMES, start, { newest });
    const transactions = await readTransactions(ledger, keys);
    found.push(...transactions.filter((each) => each.phone_number === phoneNumber && isWanted(each)));
    if (found.length >= newest || next === undefined) break;
    start = next;
  }
  return found.slice(0, newest);
};

/**
 * The live transactions that are `processing`, oldest first, read strongly, because the index may still list settled
 * ones.
 */
export const openTransactions = async (ledger: Ledger, range: TimeRange): Promise<readonly Transaction[]> =>
  stillOpen(await readTransactions(ledger, await openKeys(ledger, range)));

/** What of an open order says whose it is, for how long it has been open, and what it is expected to cost. */
const openOrderSchema = lazyObject(
  () =>
    z.pick(transactionSchema, {
      ...{ pk: true, account_id: true, mode: true, type: true, status: true },
      ...{ created_at: true, sent_at: true, cost_kobo: true },
    }).shape,
);
export type OpenOrder = z.infer<typeof openOrderSchema>;

/** The same with few attributes, for those who count orders: parsing the others is most of the work. */
export const openOrders = async (ledger: Ledger, range: TimeRange): Promise<readonly OpenOrder[]> =>
  openOrdersAmong(ledger, await openKeys(ledger, range));

/** Those of these orders that are open, queued ones too. */
export const openOrdersAmong = async (
  ledger: Ledger,
  keys: readonly Pick<OpenKey, "pk">[],
): Promise<readonly OpenOrder[]> => {
  const batches = getItemBatches(ledger, keyBatches(keys), openOrderSchema);
  return (await Array.fromAsync(batches)).flatMap(({ items }) => stillOpen(items));
};

/** Those of them for one phone number, read by its key: all open ones are many while the upstream does not answer. */
export const openOrdersFor = async (
  ledger: Ledger,
  phoneKey: string,
  range: TimeRange,
): Promise<readonly Transaction[]> => {
  const transactions = await readTransactions(ledger, await phoneOrderKeys(ledger, phoneKey, range));
  return stillOpen(transactions).filter(({ mode }) => mode === "live");
};

/**
 * Of these keys the transactions that are still open, for what is done with each by itself: one of a later release's form,
 * as after a rollback, is left out.
 */
export const readableOpenTransactions = async (
  ledger: Ledger,
  keys: readonly OpenKey[],
): Promise<readonly Transaction[]> => {
  const transactions = await getItems(ledger, keys, transactionSchema, (pk, error) =>
    log.alarm("open_order.unreadable", { record: pk, ...errorFields(error) }),
  );
  return stillOpen(transactions);
};

const stillOpen = <Order extends Pick<Transaction, "status">>(transactions: readonly Order[]): readonly Order[] =>
  transactions.filter(({ status }) => status === "processing");
