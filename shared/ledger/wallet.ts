import * as z from "zod";
import { type Kobo, koboSchema } from "../platform/money.ts";
import { isoTime } from "../platform/time.ts";
import { getItem } from "./get-item.ts";
import type { Ledger } from "./ledger.ts";
import { WALLETS_WITH_WAITING_ORDERS, walletPk } from "./schema.ts";

/**
 * An account's wallet. `version` counts the changes of the balance, so a reconciliation knows whether it has found them
 * all.
 */
export const walletSchema = z.object({
  pk: z.string(),
  account_id: z.string(),
  balance_kobo: koboSchema,
  version: z.int().min(0),
  low_balance_threshold_kobo: koboSchema.optional(),
  /** The account is restricted: nothing is debited, and no waiting order is sent. */
  restricted: z.literal(true).optional(),
  /** How many of the account's orders wait. */
  waiting_orders: z.int().min(0).optional(),
  /** With `waiting_orders`: puts the wallet into the index of those that have some. */
  open: z.literal(WALLETS_WITH_WAITING_ORDERS).optional(),
  /** With `open`: the time that the index sorts by, which is that of the account's last claim or first waiting order. */
  created_at: z.iso.datetime().optional(),
  updated_at: z.iso.datetime(),
});
export type Wallet = z.infer<typeof walletSchema>;

/** An empty wallet; it is created together with its account. */
export const emptyWallet = (accountId: string, nowMs: number): Wallet => ({
  pk: walletPk(accountId),
  account_id: accountId,
  balance_kobo: koboSchema.parse(0),
  version: 0,
  updated_at: isoTime(nowMs),
});

/** The wallet, read strongly: a caller who just bought sees the new balance. Throws if the account has none. */
export const readWallet = async (ledger: Ledger, accountId: string): Promise<Wallet> => {
  const wallet = await getItem(ledger, walletPk(accountId), walletSchema);
  if (wallet === undefined) throw new Error("The account has no wallet");
  return wallet;
};

/** One part of a transaction of writes. A wallet can be in one part only, so its changes are made together. */
const walletUpdate = <Update extends object>({ table }: Pick<Ledger, "table">, accountId: string, update: Update) => ({
  Update: { TableName: table, Key: { pk: walletPk(accountId) }, ...update },
});

const changedBalance = (sign: "+" | "-"): string =>
  `balance_kobo = balance_kobo ${sign} :amount, version = version + :one, updated_at = :now`;

const balanceValues = ({ clock }: Ledger, amount: Kobo) => ({
  ":amount": amount,
  ":one": 1,
  ":now": isoTime(clock()),
});

/** The wallet is returned if its condition fails: it tells why. */
const returned = { ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const };

const MAY_BE_DEBITED = "balance_kobo >= :amount AND attribute_not_exists(restricted)";

/** Takes the amount from the wallet if the balance is sufficient: one part of a transaction of writes. */
export const walletDebit = (ledger: Ledger, accountId: string, amount: Kobo) =>
  walletUpdate(ledger, accountId, {
    UpdateExpression: `SET ${changedBalance("-")}`,
    ConditionExpression: MAY_BE_DEBITED,
    ExpressionAttributeValues: balanceValues(ledger, amount),
    ...returned,
  });

/**
 * The debit of an order that is sent at once. It fails too if orders of the account wait, because it would overtake
 * them; the wallet that is returned then tells which.
 */
export const walletDebitUnlessWaiting = (ledger: Ledger, accountId: string, amount: Kobo) =>
  walletUpdate(ledger, accountId, {
    UpdateExpression: `SET ${changedBalance("-")}`,
    ConditionExpression: `${MAY_BE_DEBITED} AND (attribute_not_exists(waiting_orders) OR waiting_orders = :zero)`,
    ExpressionAttributeValues: { ...balanceValues(ledger, amount), ":zero": 0 },
    ...returned,
  });

/** Adds the amount to the wallet: one part of a transaction of writes. */
export const walletCredit = (ledger: Ledger, accountId: string, amount: Kobo) =>
  walletUpdate(ledger, accountId, {
    UpdateExpression: `SET ${changedBalance("+")}`,
    ConditionExpression: "attribute_exists(pk)",
    ExpressionAttributeValues: balanceValues(ledger, amount),
  });

/** Restricts a wallet with its account, or ends the restriction: one part of a transaction of writes. */
export const walletRestriction = (table: string, accountId: string, isRestricted: boolean) =>
  walletUpdate({ table }, accountId, {
    UpdateExpression: isRestricted ? "SET restricted = :true" : "REMOVE restricted",
    ConditionExpression: "attribute_exists(pk)",
    ...(isRestricted && { ExpressionAttributeValues: { ":true": true } }),
  });

/** Counts a waiting order: one part of a transaction of writes. The wallet is in the index while it has some. */
export const walletWaitingOrder = (ledger: Ledger, accountId: string) =>
  walletUpdate(ledger, accountId, {
    UpdateExpression:
      "SET waiting_orders = if_not_exists(waiting_orders, :zero) + :one, #open = :open, created_at = if_not_exists(created_at, :now)",
    ConditionExpression: "attribute_exists(pk)",
    ExpressionAttributeNames: { "#open": "open" },
    ExpressionAttributeValues: {
      ":zero": 0,
      ":one": 1,
      ":open": WALLETS_WITH_WAITING_ORDERS,
      ":now": isoTime(ledger.clock()),
    },
  });

/**
 * Counts one waiting order less, because it is sent now: one part of a transaction of writes. In the index the account
 * moves behind the others that have waiting orders, so that the next turn is theirs.
 */
export const walletWaitingOrderClaimed = (ledger: Ledger, accountId: string) =>
  walletUpdate(ledger, accountId, {
    UpdateExpression: "SET waiting_orders = waiting_orders - :one, created_at = :now",
    ConditionExpression: "waiting_orders > :zero AND attribute_not_exists(restricted)",
    ExpressionAttributeValues: { ":zero": 0, ":one": 1, ":now": isoTime(ledger.clock()) },
  });

/** Counts one waiting order less, and refunds its amount if it is given: one part of a transaction of writes. */
export const walletWaitingOrderEnded = (ledger: Ledger, accountId: string, refund?: Kobo) =>
  walletUpdate(ledger, accountId, {
    UpdateExpression: `SET waiting_orders = waiting_orders - :one${refund === undefined ? "" : `, ${changedBalance("+")}`}`,
    ConditionExpression: "waiting_orders > :zero",
    ExpressionAttributeValues: {
      ":zero": 0,
      ":one": 1,
      ...(refund !== undefined && balanceValues(ledger, refund)),
    },
  });

/** Takes a wallet out of the index, on condition that it has no waiting orders. */
export const walletWithoutWaitingOrders = (ledger: Ledger, accountId: string) =>
  walletUpdate(ledger, accountId, {
    UpdateExpression: "REMOVE #open, created_at, waiting_orders",
    ConditionExpression: "waiting_orders = :zero",
    ExpressionAttributeNames: { "#open": "open" },
    ExpressionAttributeValues: { ":zero": 0 },
  });

/**
 * Sets the balance and the number of waiting orders, if nobody has changed either since the wallet was read: one part of
 * a transaction of writes. Only a carry-over corrects a wallet.
 */
export const walletCorrection = (ledger: Ledger, read: Wallet, balanceKobo: number, waitingOrders: number) =>
  walletUpdate(ledger, read.account_id, {
    UpdateExpression: `SET balance_kobo = :balance, version = version + :one, updated_at = :now${
      waitingOrders > 0
        ? ", waiting_orders = :waiting, #open = :open, created_at = if_not_exists(created_at, :now)"
        : " REMOVE waiting_orders, #open, created_at"
    }`,
    ConditionExpression: `version = :read AND ${
      read.waiting_orders === undefined ? "attribute_not_exists(waiting_orders)" : "waiting_orders = :counted"
    }`,
    ExpressionAttributeNames: { "#open": "open" },
    ExpressionAttributeValues: {
      ":balance": balanceKobo,
      ":one": 1,
      ":now": isoTime(ledger.clock()),
      ":read": read.version,
      ...(read.waiting_orders !== undefined && { ":counted": read.waiting_orders }),
      ...(waitingOrders > 0 && { ":waiting": waitingOrders, ":open": WALLETS_WITH_WAITING_ORDERS }),
    },
  });
