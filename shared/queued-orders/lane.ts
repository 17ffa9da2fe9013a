import * as z from "#zod";
import { MINUTE_MS } from "../contract/values/durations.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { OpenKey } from "../ledger/query-index.ts";
import type { QueuedOrder } from "../ledger/transaction.ts";
import type { Wallet } from "../ledger/wallet.ts";
import { errorFields, log } from "../platform/log.ts";
import { type OrderQueue, queuedNumbers, queueOf, withGap } from "./order-queue.ts";
import { queuedOrdersPage, readQueue } from "./queue-store.ts";

/**
 * An order that the index does not list after this time does not wait: its wallet was restored without it. Until then
 * the later orders of its account wait for it.
 */
const MISSING_MS = 5 * MINUTE_MS;

/** One account's queued orders in a run of the sender. */
export type Lane = {
  readonly wallet: Wallet;
  /** The queue as it was read, and as this run has changed it since. */
  queue: OrderQueue;
  /** Orders that were read and have not ended or been claimed, by number. */
  readonly orders: Map<number, QueuedOrder>;
  /** The index lists some of them. */
  readonly isListed: boolean;
  /** Where the next page begins. */
  next: OpenKey | undefined;
  /** Until when the order that was claimed last may begin, as the wallet has it. */
  turnUntil: string | undefined;
  /** This run has claimed an order, and ends the turn. */
  hasTurn: boolean;
  /** No further order of the account is sent in this run. */
  isHeld: boolean;
};

/** Where an order of a queue is; absent for one that was set aside. */
export type InLane = {
  readonly lane: Lane;
  readonly number: number;
  /** Called when its request begins: then the account's next order may be claimed. */
  readonly begun?: () => void;
};

/** Reads an account's queue; undefined if it cannot be read, which does not hold back the other accounts. */
export const openLane = (ledger: Ledger, accountId: string): Promise<Lane | undefined> =>
  unlessUnreadable({ account: accountId }, async () => {
    const { wallet, page } = await readQueue(ledger, accountId);
    const { turn_until: turnUntil } = wallet;
    const isOthersTurn = turnUntil !== undefined && ledger.clock() < Date.parse(turnUntil);
    return {
      wallet,
      queue: queueOf(wallet),
      orders: byNumber(page.orders),
      isListed: page.orders.length > 0 || page.next !== undefined,
      next: page.next,
      turnUntil,
      hasTurn: false,
      isHeld: isOthersTurn || wallet.restricted === true,
    };
  });

/** The order that is sent next, or undefined: then none of the account is sent in this run. */
export const nextOrder = async (ledger: Ledger, lane: Lane): Promise<QueuedOrder | undefined> => {
  const [number] = queuedNumbers(lane.queue);
  if (number === undefined) return undefined;
  while (!lane.isHeld && !lane.orders.has(number) && (await readMore(ledger, lane)));
  // A page that cannot be read may have it.
  if (lane.isHeld) return undefined;
  const order = lane.orders.get(number) ?? orderBehindMissing(ledger, lane, number);
  if (order === undefined) lane.isHeld = true;
  return order;
};

/** The first order that is listed, once it has waited until those before it would be listed too. */
const orderBehindMissing = (
  { clock }: Ledger,
  { wallet, queue, orders }: Lane,
  missing: number,
): QueuedOrder | undefined => {
  const [order] = [...queuedNumbers(queue)].flatMap((number) => orders.get(number) ?? []);
  if (order === undefined) return undefined;
  // The missing order began to wait at this time or before; again, if it is in front.
  const since = [order.updated_at, ...(queue.front.has(missing) ? [wallet.queue_front_at ?? ""] : [])];
  if (since.some((time) => clock() - Date.parse(time) < MISSING_MS)) return undefined;
  log.alarm("queued_orders.missing", { account: wallet.account_id });
  return order;
};

/** Reads the next page of the account's orders, or holds the lane; false if there is no page. */
export const readMore = async (ledger: Ledger, lane: Lane): Promise<boolean> => {
  const { wallet, next } = lane;
  if (next === undefined) return false;
  const page = await unlessUnreadable({ account: wallet.account_id }, () =>
    queuedOrdersPage(ledger, wallet.account_id, next),
  );
  if (page === undefined) lane.isHeld = true;
  for (const [number, order] of byNumber(page?.orders ?? [])) lane.orders.set(number, order);
  lane.next = page?.next;
  return true;
};

/** Takes an order out of its lane that has ended without a claim. */
export const endInLane = (lane: Lane, number: number): void => {
  lane.orders.delete(number);
  lane.queue = withGap(lane.queue, number);
};

/** Leaves an order for the next run, and with it those of its account that follow. */
export const holdLane = ({ lane, number }: InLane): void => {
  lane.isHeld = true;
  lane.orders.delete(number);
};

export const leaveLane = (inLane: InLane, hasEnded: boolean): void =>
  hasEnded ? endInLane(inLane.lane, inLane.number) : holdLane(inLane);

const byNumber = (orders: readonly QueuedOrder[]): Map<number, QueuedOrder> =>
  new Map(
    orders.flatMap((order) => (order.queued.number === undefined ? [] : [[order.queued.number, order] as const])),
  );

/** Undefined after a fault, or if an order is of a later release. The next run tries again. */
export const unlessUnreadable = async <Result>(
  what: { readonly account: string } | { readonly record: string },
  read: () => Promise<Result>,
): Promise<Result | undefined> => {
  try {
    return await read();
  } catch (error) {
    if (error instanceof z.$ZodError) log.alarm("queued_orders.unreadable", { ...what, ...errorFields(error) });
    else log.warn("queued_orders.not_read", { ...what, ...errorFields(error) });
    return undefined;
  }
};
