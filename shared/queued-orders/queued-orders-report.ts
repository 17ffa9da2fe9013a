import { QUEUED_ORDERS_LISTED_MAX } from "../contract/actions/transactions.ts";
import { duration, MINUTE_MS } from "../contract/values/durations.ts";
import { nairaFromKobo } from "../contract/values/money.ts";
import { readTransactions } from "../ledger/find-transactions.ts";
import { getItems } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type OpenKey, queuedKeys, waitingOrderKeys } from "../ledger/query-index.ts";
import { accountIdOf, walletPk } from "../ledger/schema.ts";
import {
  isQueuedOrder,
  type QueuedOrder,
  referenceOf,
  type Transaction,
  waitsInAnotherLedger,
} from "../ledger/transaction.ts";
import { readWallet, type Wallet, walletSchema } from "../ledger/wallet.ts";
import { type PurchasesStore, readPurchasesSwitch } from "../orders/purchases-switch.ts";
import { sum } from "../platform/sum.ts";
import { isoTime } from "../platform/time.ts";
import { queueLength, queueOf } from "./order-queue.ts";
import { isSetAside, listQueuedOrders } from "./queue-store.ts";
import { readUpstreamPace, sendingS } from "./upstream-pace.ts";

type ReportDeps = { readonly ledger: Ledger; readonly purchases: PurchasesStore };

/** The orders of one account that wait, oldest first. */
type QueuedAccount = {
  readonly accountId: string;
  readonly orders: readonly QueuedOrder[];
  /**
   * How many its wallet counts, and were set aside. It differs for moments only, because the list comes from an index.
   */
  readonly counted: number;
  readonly isRestricted: boolean;
};

/** Why an order waits. */
export type QueuedReason = "upstream_limit" | "refused_by_upstream" | "account_restricted";

const reasonOf = (order: QueuedOrder, isRestricted: boolean): QueuedReason => {
  if (isRestricted) return "account_restricted";
  return isSetAside(order) ? "refused_by_upstream" : "upstream_limit";
};

/** Orders that wait, in all accounts or in one. */
export type QueuedOrders = {
  readonly accounts: readonly QueuedAccount[];
  readonly count: number;
  readonly amountKobo: number;
  /** Undefined if none waits. */
  readonly oldestS: number | undefined;
  /** About how long it takes to send them all once the limit is free; undefined while nothing is sent. */
  readonly sendingS: number | undefined;
};

export const readQueuedOrders = async (
  { ledger, purchases }: ReportDeps,
  accountId?: string,
): Promise<QueuedOrders> => {
  const keys = await queuedKeys(ledger);
  const setAside = await readSetAside(ledger, keys.setAside);
  const accountIds = [
    ...keys.wallets.map(({ pk }) => accountIdOf(pk)),
    ...setAside.map(({ account_id }) => account_id),
  ];
  const chosen = [...new Set(accountIds)].filter((each) => accountId === undefined || each === accountId);
  const wallets = await getItems(ledger, chosen.map(walletPk), walletSchema);
  const accounts: QueuedAccount[] = [];
  for (const wallet of wallets) {
    const own = setAside.filter(({ account_id }) => account_id === wallet.account_id);
    const orders = [...(await listQueuedOrders(ledger, wallet.account_id)), ...own];
    const counted = countedIn(wallet, own);
    const isRestricted = wallet.restricted === true;
    if (orders.length > 0 || counted > 0)
      accounts.push({ accountId: wallet.account_id, orders, counted, isRestricted });
  }
  const orders = accounts.flatMap((account) => account.orders);
  const times = orders.map(({ created_at }) => created_at);
  return {
    accounts,
    amountKobo: sum(orders.map(({ amount_kobo }) => amount_kobo)),
    ...(await queueLengthOf({ ledger, purchases }, times)),
  };
};

const readSetAside = async (ledger: Ledger, keys: readonly OpenKey[]): Promise<readonly QueuedOrder[]> =>
  (await readTransactions(ledger, keys)).filter(isSetAside);

const countedIn = (wallet: Wallet, ownSetAside: readonly QueuedOrder[]): number =>
  queueLength(queueOf(wallet)) + ownSetAside.length;

/** How many orders of an account wait, as its wallet counts them, and set aside. */
export const countQueuedOrders = async (ledger: Ledger, wallet: Wallet): Promise<number> => {
  const setAside = await readSetAside(ledger, (await queuedKeys(ledger)).setAside);
  return countedIn(
    wallet,
    setAside.filter(({ account_id }) => account_id === wallet.account_id),
  );
};

type QueueLength = Pick<QueuedOrders, "count" | "oldestS" | "sendingS">;

const queueLengthOf = async ({ ledger, purchases }: ReportDeps, times: readonly string[]): Promise<QueueLength> => {
  const ages = times.map((created_at) => ageS({ created_at }, ledger.clock()));
  const isOff = (await readPurchasesSwitch(purchases)).purchases === "off";
  return {
    count: times.length,
    oldestS: ages.length === 0 ? undefined : Math.max(...ages),
    sendingS: isOff ? undefined : sendingS(times.length, await readUpstreamPace(purchases)),
  };
};

/** When the orders that wait were placed, as the index has it, which lags: to read them all takes long if they are many. */
export const readQueuedTimes = async (ledger: Ledger): Promise<readonly string[]> =>
  (await waitingOrderKeys(ledger)).map(({ listed_at }) => listed_at);

/** How many orders wait, and for how long, without reading them. */
export const readQueueLength = async (deps: ReportDeps): Promise<QueueLength> =>
  queueLengthOf(deps, await readQueuedTimes(deps.ledger));

/** How long it takes to send all queued orders. */
export const sendingText = (sendingS: number): string => `about ${duration(sendingS * 1_000)} once the limit is free`;

export const ageS = ({ created_at }: Pick<Transaction, "created_at">, nowMs: number): number =>
  Math.max(0, Math.floor((nowMs - Date.parse(created_at)) / 1_000));

export const queuedOrderJson = (order: QueuedOrder, isRestricted: boolean, nowMs: number) => ({
  reference: referenceOf(order),
  account_id: order.account_id,
  amount: nairaFromKobo(order.amount_kobo),
  created_at: order.created_at,
  age_s: ageS(order, nowMs),
  reason: reasonOf(order, isRestricted),
});

/** The oldest orders of all these accounts. */
export const oldestQueuedJson = (accounts: readonly QueuedAccount[], nowMs: number) =>
  accounts
    .flatMap(({ orders, isRestricted }) => orders.map((order) => queuedOrderJson(order, isRestricted, nowMs)))
    .toSorted((one, other) => (one.created_at < other.created_at ? -1 : 1))
    .slice(0, QUEUED_ORDERS_LISTED_MAX);

const queuedReasonText: Readonly<Record<QueuedReason, string>> = {
  upstream_limit: "for the upstream's rate limit",
  refused_by_upstream: "because the upstream refused this order with 429, although its limit was not spent",
  account_restricted: "because the account is restricted",
};

/** What an operator should know of a transaction that waits, or that waited; undefined if it never did. */
export const queuedText = async (
  { ledger, purchases, queueMinutes }: ReportDeps & { readonly queueMinutes: number },
  transaction: Transaction,
): Promise<string | undefined> => {
  const { created_at, sent_at } = transaction;
  if (!isQueuedOrder(transaction)) {
    if (sent_at === undefined) return undefined;
    return `waited ${duration(Date.parse(sent_at) - Date.parse(created_at))}, until ${sent_at}`;
  }
  const isRestricted = (await readWallet(ledger, transaction.account_id)).restricted === true;
  const since = `waits since ${created_at} ${queuedReasonText[reasonOf(transaction, isRestricted)]}`;
  if (waitsInAnotherLedger(ledger, transaction)) {
    return `${since}, in the table ${transaction.queued.table}: it may have been sent since, and is not sent again`;
  }
  if ((await readPurchasesSwitch(purchases)).purchases === "off") {
    return `${since}; purchases are off: it is neither sent nor refunded`;
  }
  const refundedAt = isoTime(Date.parse(created_at) + queueMinutes * MINUTE_MS);
  return `${since}; refunded by the next run after ${refundedAt}, unless it is sent before`;
};
