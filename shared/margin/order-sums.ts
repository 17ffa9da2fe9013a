import * as z from "#zod";
import { AT_ONCE_MS } from "../contract/actions/refund-clock.ts";
import { lazyObject } from "../contract/lazy-object.ts";
import { HOUR_MS } from "../contract/values/durations.ts";
import { dateIn } from "../contract/values/time-zone.ts";
import { readTransactions } from "../ledger/find-transactions.ts";
import { BATCHES_AT_ONCE, getItem, getItemBatches, getItems, keyBatches } from "../ledger/get-item.ts";
import type { Ledger, Table } from "../ledger/ledger.ts";
import { ifVersion } from "../ledger/put-if.ts";
import { type IndexKey, listKeys, queryList } from "../ledger/query-index.ts";
import { orderDayPk, orderSumsPk, transactionList } from "../ledger/schema.ts";
import { isIdentityCheck, type Transaction } from "../ledger/transaction.ts";
import { batchesOf } from "../platform/batches.ts";
import type { Deadline } from "../platform/deadline.ts";
import { mapInOrder } from "../platform/map-in-order.ts";
import { EPOCH, isoTime } from "../platform/time.ts";
import { afterMs, incrementsOf, readDays } from "./order-days.ts";

/**
 * What an account's delivered orders cost and earned, and how long after its debit each order ended: one item for each
 * day, and how far the ledger was read. Each order
 * is added once, when it is older than an hour and has ended: until then it is read again.
 */
export const orderSumsSchema = z.object({
  pk: z.string(),
  account_id: z.string(),
  version: z.int(),
  /** Every order that was created until then is in the sums, but for the open ones. */
  up_to: z.iso.datetime(),
  open_keys: z.array(z.string()),
  /** Of delivered orders: what they cost, and the price of those whose cost is unknown. */
  cost_kobo: z.int(),
  unknown_kobo: z.int(),
  /**
   * Of the last hours, by the hour in which the orders were created: what the delivered ones cost, and how many purchases have
   * ended, and of them at once.
   */
  hours: z.array(z.object({ hour: z.iso.datetime(), kobo: z.int(), ended: z.int(), at_once: z.int() })),
});
export type OrderSums = z.infer<typeof orderSumsSchema>;

const firstSums = (accountId: string): OrderSums => ({
  pk: orderSumsPk(accountId),
  account_id: accountId,
  version: 0,
  up_to: EPOCH,
  open_keys: [],
  cost_kobo: 0,
  unknown_kobo: 0,
  hours: [],
});

/** The index has every order of this age, and most have ended. */
export const SETTLED_AGE_MS = HOUR_MS;
const HOURS_KEPT_MS = 25 * HOUR_MS;
/** Orders of one write, and its days: a transaction has 100 items. */
const ORDERS_AT_ONCE = 1_000;
const OPEN_KEYS_MAX = 40;
const DAYS_AT_ONCE = 50;
/** Bounds an update's expression, which may have 4 KB; what open orders add that ended comes on top. */
const DAY_NAMES_AT_ONCE = 100;

const dayOf = ({ created_at }: Pick<Transaction, "created_at">, timeZone: string): string =>
  dateIn(Date.parse(created_at), timeZone);
const hourOf = (atMs: number): string => isoTime(Math.floor(atMs / HOUR_MS) * HOUR_MS);

/** What the upstream charges for an order, or its price while that is unknown; nothing of one that failed. */
export const consumedKobo = ({ status, cost_kobo, amount_kobo }: Transaction): number =>
  status === "failed" ? 0 : (cost_kobo ?? amount_kobo);

/** A ledger, and the zone in which its days begin. */
export type LedgerInZone = Ledger & { readonly timeZone: string };

/**
 * Adds what has ended since the last run, in steps of which each is one conditional write: one that is repeated, or comes
 * late, adds nothing. True if everything until an hour ago is in the sums, or open.
 */
export const advanceSums = async (ledger: LedgerInZone, accountId: string, deadline: Deadline): Promise<boolean> => {
  for (;;) {
    const before = (await getItem(ledger, orderSumsPk(accountId), orderSumsSchema)) ?? firstSums(accountId);
    const step = await nextStep(ledger, before);
    await writeStep(ledger, before, step);
    if (step.isLast) return true;
    if (deadline.remainingMs() <= 0) return false;
  }
};

type Step = { readonly next: OrderSums; readonly ended: readonly Transaction[]; readonly isLast: boolean };

const nextStep = async (ledger: LedgerInZone, before: OrderSums): Promise<Step> => {
  const limit = isoTime(ledger.clock() - SETTLED_AGE_MS);
  const held = await readTransactions(ledger, before.open_keys);
  const page = limit > before.up_to ? await keysAfter(ledger, before, limit) : { keys: [], isLast: true };
  const orders = await readTransactions(ledger, page.keys);
  const stillHeld = held.filter(({ status }) => status === "processing");
  const taken = cutOff(orders, OPEN_KEYS_MAX - stillHeld.length, ledger.timeZone);
  const isWhole = taken.length === orders.length;
  const ended = [...held, ...taken].filter(({ status, debit }) => status !== "processing" && debit === undefined);
  const delivered = ended.filter(({ status }) => status === "success");
  const upTo = isWhole && page.isLast ? maxOf(before.up_to, limit) : (taken.at(-1)?.created_at ?? before.up_to);
  const hours = new Map(before.hours.map((each) => [each.hour, each]));
  for (const order of ended) {
    const hour = hourOf(Date.parse(order.created_at));
    const { kobo, ended: all, at_once } = hours.get(hour) ?? { kobo: 0, ended: 0, at_once: 0 };
    const isPurchase = !isIdentityCheck(order);
    hours.set(hour, {
      hour,
      kobo: kobo + consumedKobo(order),
      ended: all + (isPurchase ? 1 : 0),
      at_once: at_once + (isPurchase && afterMs(order) <= AT_ONCE_MS ? 1 : 0),
    });
  }
  const oldest = isoTime(ledger.clock() - HOURS_KEPT_MS);
  const unknown = delivered.filter(({ cost_kobo }) => cost_kobo === undefined);
  const next: OrderSums = {
    ...before,
    version: before.version + 1,
    up_to: upTo,
    open_keys: [...stillHeld, ...taken.filter(({ status }) => status === "processing")].map(({ pk }) => pk),
    cost_kobo: before.cost_kobo + sumOf(delivered, ({ cost_kobo = 0 }) => cost_kobo),
    unknown_kobo: before.unknown_kobo + sumOf(unknown, ({ amount_kobo }) => amount_kobo),
    hours: [...hours.values()].filter(({ hour }) => hour >= oldest),
  };
  return { next, ended, isLast: (isWhole && page.isLast) || taken.length === 0 };
};

const maxOf = (one: string, other: string): string => (one > other ? one : other);

/** The keys of the oldest orders after those that are in the sums. */
const keysAfter = async (ledger: Ledger, { account_id, up_to }: OrderSums, limit: string) => {
  const range = { from: isoTime(Date.parse(up_to) + 1), to: limit };
  const { keys, next } = await queryList(ledger, transactionList(account_id, "live"), range, undefined, {
    oldest: ORDERS_AT_ONCE,
  });
  return { keys: next === undefined ? keys : withoutLastMoment(keys), isLast: next === undefined };
};

/** A moment is read whole, or the rest of it would never be. */
const withoutLastMoment = <Dated extends Pick<IndexKey, "created_at">>(dated: readonly Dated[]): readonly Dated[] => {
  const last = dated.at(-1)?.created_at;
  const left = dated.filter(({ created_at }) => created_at !== last);
  if (left.length === 0) throw new Error(`${dated.length} orders have the same time`);
  return left;
};

/** The oldest of the orders that one write can take. */
const cutOff = (orders: readonly Transaction[], openMax: number, timeZone: string): readonly Transaction[] => {
  const days = new Map<string, Set<string>>();
  let open = 0;
  for (const order of orders) {
    const day = dayOf(order, timeZone);
    const names = days.get(day) ?? new Set<string>();
    for (const [name] of incrementsOf(order)) names.add(name);
    days.set(day, names);
    open += order.status === "processing" ? 1 : 0;
    if (days.size > DAYS_AT_ONCE || names.size > DAY_NAMES_AT_ONCE || open > openMax)
      return orders.filter(({ created_at }) => created_at < order.created_at);
  }
  return orders;
};

const sumOf = (orders: readonly Transaction[], koboOf: (order: Transaction) => number): number =>
  orders.reduce((sum, order) => sum + koboOf(order), 0);

const writeStep = async (
  { db, table, timeZone }: LedgerInZone,
  before: OrderSums,
  { next, ended }: Step,
): Promise<void> => {
  const days = new Map<string, Map<string, number>>();
  for (const order of ended) {
    const day = dayOf(order, timeZone);
    const sums = days.get(day) ?? new Map<string, number>();
    days.set(day, sums);
    for (const [name, amount] of incrementsOf(order)) sums.set(name, (sums.get(name) ?? 0) + amount);
  }
  await db.transactWrite({
    TransactItems: [
      {
        Put: { TableName: table, Item: next, ...ifVersion(before.version) },
      },
      ...[...days].map(([day, sums]) => ({
        Update: {
          TableName: table,
          Key: { pk: orderDayPk(before.account_id, day) },
          UpdateExpression: `ADD ${[...sums].map((_, index) => `#${index} :${index}`).join(", ")}`,
          ExpressionAttributeNames: Object.fromEntries([...sums].map(([name], index) => [`#${index}`, name])),
          ExpressionAttributeValues: Object.fromEntries([...sums].map(([, sum], index) => [`:${index}`, sum])),
        },
      })),
    ],
  });
};

/** The sums of accounts, by id; those of an account without a run are left out. */
export const readSums = async (
  table: Table,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, OrderSums>> => {
  const items = await getItems(table, accountIds.map(orderSumsPk), orderSumsSchema);
  return new Map(items.map((item) => [item.account_id, item]));
};

const ACCOUNTS_AT_ONCE = 1_000;

/** The sums of accounts, some accounts at a time: those of many, with the hours of a day, would take a function's memory. */
export async function* sumsInParts(table: Table, accountIds: readonly string[]) {
  for (const part of batchesOf(accountIds, ACCOUNTS_AT_ONCE)) {
    yield { accountIds: part, sums: await readSums(table, part) };
  }
}

const progressSchema = lazyObject(() => z.pick(orderSumsSchema, { pk: true, account_id: true, up_to: true }).shape);

/** Accounts whose sums were not advanced to this moment, in batches. */
export async function* accountsBehind(
  table: Table,
  accountIds: readonly string[],
  moment: string,
): AsyncGenerator<readonly string[], void, void> {
  const wanted = accountIds.map((accountId) => ({ accountId, pk: orderSumsPk(accountId) }));
  for await (const { keys, items } of getItemBatches(table, keyBatches(wanted), progressSchema)) {
    const upTo = new Map(items.map(({ account_id, up_to }) => [account_id, up_to]));
    yield keys.map(({ accountId }) => accountId).filter((accountId) => (upTo.get(accountId) ?? "") < moment);
  }
}

export type AccountConsumption = { readonly sums: OrderSums; readonly orders: readonly Transaction[] };

/** Of each account its sums, as they were read, and the orders that they lack: those that were open, and the newest ones. */
export async function* sumsAndOrders(
  ledger: Ledger,
  accountIds: readonly string[],
  known: ReadonlyMap<string, OrderSums>,
): AsyncGenerator<AccountConsumption, void, void> {
  yield* mapInOrder(accountIds, BATCHES_AT_ONCE, async (accountId) => {
    const sums = known.get(accountId) ?? firstSums(accountId);
    return { sums, orders: await ordersBeside(ledger, sums) };
  });
}

const ordersBeside = async (ledger: Ledger, sums: OrderSums): Promise<readonly Transaction[]> => {
  const range = { from: isoTime(Date.parse(sums.up_to) + 1), to: "9999" };
  const newest = await listKeys(ledger, transactionList(sums.account_id, "live"), range);
  return readTransactions(ledger, [...sums.open_keys, ...newest]);
};

/**
 * The sums of accounts, and what of them is of orders of these days. Both are of one moment: an account whose sums a run has
 * changed between the reads is read again.
 */
export const readSumsSince = async (table: Table, accountIds: readonly string[], days: readonly string[]) => {
  const sums = new Map<string, OrderSums>();
  let sinceKobo = 0;
  let left = accountIds;
  while (left.length > 0) {
    const before = await readSums(table, left);
    const since = new Map<string, number>();
    for await (const batch of readDays(table, left, days)) {
      for (const { accountId, sums: of } of batch) {
        since.set(accountId, (since.get(accountId) ?? 0) + (of.cost ?? 0) + (of.unknown_price ?? 0));
      }
    }
    const after = await readSums(table, left);
    const isSame = (accountId: string): boolean => before.get(accountId)?.version === after.get(accountId)?.version;
    for (const accountId of left.filter(isSame)) {
      sums.set(accountId, after.get(accountId) ?? firstSums(accountId));
      sinceKobo += since.get(accountId) ?? 0;
    }
    left = left.filter((accountId) => !isSame(accountId));
  }
  return { sums, sinceKobo };
};
