import * as z from "#zod";
import type { BookedOrder } from "../contract/upstream-statement.ts";
import { readTransactions } from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { decodePageCursor } from "../ledger/page-cursor.ts";
import { ALL_TIMES, type IndexKey, indexKeySchema, queryList, type TimeRange } from "../ledger/query-index.ts";
import { ACCOUNTS_LIST, accountIdOf, isAccountPk, isTransactionPk, transactionList } from "../ledger/schema.ts";
import { isQueuedOrder, referenceOf, sentAt, type Transaction } from "../ledger/transaction.ts";
import { expectedAmount, type UpstreamCosts } from "../ledger/upstream-costs.ts";

/** Hashes a phone number, so that both sides can be compared without it. */
export type HashPhone = (phoneNumber: string) => string;

/** Where a list of orders continues: behind these accounts, and behind this order of the next one. */
const ordersPositionSchema = z.object({
  account: z.optional(indexKeySchema),
  order: z.optional(indexKeySchema),
});
export type OrdersPosition = z.infer<typeof ordersPositionSchema>;

/** Undefined unless it is a place in the list of the orders of this time: DynamoDB refuses a place beyond what it reads. */
export const decodeOrdersPosition = (cursor: string, placed: TimeRange): OrdersPosition | undefined => {
  const position = decodePageCursor(ordersPositionSchema, cursor);
  const { account, order } = position ?? {};
  const isPlace =
    (account === undefined || isAccountPk(account.pk)) &&
    (order === undefined ||
      (isTransactionPk(order.pk) && order.created_at >= placed.from && order.created_at <= placed.to));
  return isPlace ? position : undefined;
};

/** Orders of one page, and the index reads that it may take: there may be many accounts without one. */
const ORDERS_PER_PAGE = 1_000;
const ORDERS_PER_READ = 500;
const READS_PER_PAGE = 40;
const ACCOUNTS_PER_READ = 25;

/** One page of the live orders of all accounts that were placed in this time, account by account. */
export const readBookedOrders = async (
  ledger: Ledger,
  placed: TimeRange,
  toBooked: (transaction: Transaction) => BookedOrder,
  start: OrdersPosition,
): Promise<{ readonly orders: readonly BookedOrder[]; readonly next: OrdersPosition | undefined }> => {
  const orders: BookedOrder[] = [];
  let { account, order } = start;
  for (let reads = 0; ; ) {
    const accounts = await queryList(ledger, ACCOUNTS_LIST, ALL_TIMES, account, { oldest: ACCOUNTS_PER_READ });
    for (const key of accounts.keys) {
      do {
        const list = transactionList(accountIdOf(key.pk), "live");
        const page: OrdersPage = await queryList(ledger, list, placed, order, { oldest: ORDERS_PER_READ });
        reads += 1;
        orders.push(...(await readTransactions(ledger, page.keys)).map(toBooked));
        order = page.next;
        if (order === undefined) account = key;
        const isFull = orders.length >= ORDERS_PER_PAGE || reads >= READS_PER_PAGE;
        if (isFull) return { orders, next: { ...(account && { account }), ...(order && { order }) } };
      } while (order !== undefined);
    }
    if (accounts.next === undefined) return { orders, next: undefined };
    account = accounts.next;
  }
};

type OrdersPage = { readonly keys: readonly IndexKey[]; readonly next: IndexKey | undefined };

/**
 * What the books say of an order: when it was sent, and the amount that the upstream should state. A day's statement must
 * list what was delivered in it, and what was sent and is open; it may list what failed.
 */
export const bookedOrderOf = (
  transaction: Transaction,
  { from, to }: TimeRange,
  { costs, hashPhone }: { readonly costs: UpstreamCosts; readonly hashPhone: HashPhone },
): BookedOrder => {
  const { upstream_reference, phone_number, upstream_amount_kobo, type, status } = transaction;
  const at = sentAt(transaction);
  const isSent = status === "success" || (status === "processing" && !isQueuedOrder(transaction));
  return {
    reference: referenceOf(transaction),
    ...(upstream_reference !== undefined && { upstream_reference }),
    ...(phone_number !== undefined && { phone_hash: hashPhone(phone_number) }),
    amount_kobo: upstream_amount_kobo ?? expectedAmount(costs, transaction),
    ...{ type, status, at, is_due: isSent && at >= from && at < to },
  };
};
