import * as z from "zod";
import { type Kobo, koboSchema } from "../contract/money.ts";
import { isoTime } from "../platform/time.ts";
import { getItem } from "./get-item.ts";
import type { Ledger } from "./ledger.ts";
import { WAITING, walletPk } from "./schema.ts";
import type { WaitingQueue } from "./waiting-queue.ts";

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
  /** While the sender of waiting orders lists the wallet, new orders of the account wait too. */
  open: z.literal(WAITING).optional(),
  /** Since when it is listed, or when the account's last turn ended. */
  listed_at: z.iso.datetime().optional(),
  /** The account's waiting orders: waiting-queue.ts. They outlast the list, so that no number is given twice. */
  queue_tail: z.int().min(1).optional(),
  queue_head: z.int().min(1).optional(),
  queue_front: z.set(z.int()).optional(),
  queue_gaps: z.set(z.int()).optional(),
  /** When a number was put in front last. */
  queue_front_at: z.iso.datetime().optional(),
  /** Until then the request of the order that was claimed last may begin, so no later order is sent by another run. */
  turn_until: z.iso.datetime().optional(),
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

/** The stored wallet is returned if a condition fails: it shows which part of it did. */
const returned = { ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const };

const changedBalance = (sign: "+" | "-"): string =>
  `balance_kobo = balance_kobo ${sign} :amount, version = version + :one, updated_at = :now`;

const balanceValues = ({ clock }: Ledger, amount: Kobo) => ({
  ":amount": amount,
  ":one": 1,
  ":now": isoTime(clock()),
});

const IS_SUFFICIENT = "balance_kobo >= :amount";
const MAY_BE_DEBITED = `${IS_SUFFICIENT} AND attribute_not_exists(restricted)`;

/** Takes the amount from the wallet if it is not restricted and holds enough: one part of a transaction of writes. */
export const walletDebit = (ledger: Ledger, accountId: string, amount: Kobo) =>
  walletUpdate(ledger, accountId, {
    UpdateExpression: `SET ${changedBalance("-")}`,
    ConditionExpression: MAY_BE_DEBITED,
    ExpressionAttributeValues: balanceValues(ledger, amount),
    ...returned,
  });

/**
 * The debit of an order that is sent at once. It fails too while the sender lists the wallet: the order would overtake
 * one that waits, or that is claimed and not yet sent.
 */
export const walletDebitUnlessWaiting = (ledger: Ledger, accountId: string, amount: Kobo) =>
  walletUpdate(ledger, accountId, {
    UpdateExpression: `SET ${changedBalance("-")}`,
    ConditionExpression: `${MAY_BE_DEBITED} AND attribute_not_exists(#open)`,
    ExpressionAttributeNames: { "#open": "open" },
    ExpressionAttributeValues: balanceValues(ledger, amount),
    ...returned,
  });

/** Takes the amount of an operator's adjustment, also from a restricted wallet: one part of a transaction of writes. */
export const walletAdjustment = (ledger: Ledger, accountId: string, amount: Kobo) =>
  walletUpdate(ledger, accountId, {
    UpdateExpression: `SET ${changedBalance("-")}`,
    ConditionExpression: IS_SUFFICIENT,
    ExpressionAttributeValues: balanceValues(ledger, amount),
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

/** The condition that the account is not restricted: one part of a transaction of writes. */
export const walletNotRestricted = ({ table }: Ledger, accountId: string) => ({
  ConditionCheck: {
    TableName: table,
    Key: { pk: walletPk(accountId) },
    ConditionExpression: "attribute_exists(pk) AND attribute_not_exists(restricted)",
    ...returned,
  },
});

const LISTED = "#open = :open, listed_at = if_not_exists(listed_at, :now)";
const listedNames = { "#open": "open" };
const listedValues = ({ clock }: Ledger) => ({ ":open": WAITING, ":now": isoTime(clock()) });

/** Gives the next number to an order that begins to wait: one part of a transaction of writes. */
export const walletQueueJoin = (ledger: Ledger, accountId: string, { tail }: WaitingQueue) =>
  walletUpdate(ledger, accountId, {
    UpdateExpression: `SET queue_tail = :number, queue_head = if_not_exists(queue_head, :number), ${LISTED}`,
    ConditionExpression: `attribute_exists(pk) AND ${tail === 0 ? "attribute_not_exists(queue_tail)" : "queue_tail = :tail"}`,
    ExpressionAttributeNames: listedNames,
    ExpressionAttributeValues: {
      ":number": tail + 1,
      ...(tail > 0 && { ":tail": tail }),
      ...listedValues(ledger),
    },
    ...returned,
  });

/**
 * Puts the number of a claimed order back in front: one part of a transaction of writes. `turnUntil`: the turn that the
 * claim began, for an order that was never sent. The write fails if another order was claimed since, or if the wallet
 * has left the list: then new orders are sent at once.
 */
export const walletQueueReturn = (ledger: Ledger, accountId: string, number: number, turnUntil?: string) =>
  walletUpdate(ledger, accountId, {
    UpdateExpression: `SET ${LISTED}, queue_front_at = :now ADD queue_front :numbers`,
    ConditionExpression: turnUntil === undefined ? "attribute_exists(pk)" : "turn_until = :turn",
    ExpressionAttributeNames: listedNames,
    ExpressionAttributeValues: {
      ":numbers": new Set([number]),
      ...(turnUntil !== undefined && { ":turn": turnUntil }),
      ...listedValues(ledger),
    },
    ...returned,
  });

/** Which numbers the queue has in front, as a condition on the stored wallet. */
const hasFront = ({ front }: WaitingQueue) => ({
  expression: front.size === 0 ? "attribute_not_exists(queue_front)" : "queue_front = :front",
  values: front.size === 0 ? {} : { ":front": front },
});

const without = (numbers: ReadonlySet<number>, kept: ReadonlySet<number>): ReadonlySet<number> =>
  new Set([...numbers].filter((number) => !kept.has(number)));

type QueueChange = { readonly before: WaitingQueue; readonly after: WaitingQueue };

/** Takes numbers out of the queue, on condition that no claim or return has changed it. */
const queueRemoval = ({ before, after }: QueueChange) => {
  const front = hasFront(before);
  const removed = Object.entries({
    queue_front: without(before.front, after.front),
    queue_gaps: without(before.gaps, after.gaps),
  }).filter(([, numbers]) => numbers.size > 0);
  const removal = removed.map(([name]) => `${name} :${name}`).join(", ");
  return {
    set: "queue_head = :after",
    removal: removal && ` DELETE ${removal}`,
    condition: `queue_head = :before AND ${front.expression}`,
    values: {
      ":before": before.head,
      ":after": after.head,
      ...front.values,
      ...Object.fromEntries(removed.map(([name, numbers]) => [`:${name}`, numbers])),
    },
  };
};

/**
 * Claims a number, on condition that no other claim or return has changed the queue: one part of a transaction of
 * writes. Until `turnUntil` the order's request may begin.
 */
export const walletQueueClaim = (ledger: Ledger, accountId: string, change: QueueChange, turnUntil: string) => {
  const { set, removal, condition, values } = queueRemoval(change);
  return walletUpdate(ledger, accountId, {
    UpdateExpression: `SET ${set}, turn_until = :until${removal}`,
    ConditionExpression: `${condition} AND attribute_not_exists(restricted)`,
    ExpressionAttributeValues: { ...values, ":until": turnUntil },
    ...returned,
  });
};

/** Takes numbers out of the queue whose orders have ended: without it they would stay until the account's next claim. */
export const walletQueueTrim = (ledger: Ledger, accountId: string, change: QueueChange) => {
  const { set, removal, condition, values } = queueRemoval(change);
  return walletUpdate(ledger, accountId, {
    UpdateExpression: `SET ${set}${removal}`,
    ConditionExpression: condition,
    ExpressionAttributeValues: values,
  });
};

/**
 * Takes the number of an order out of the queue that ends without being claimed, and refunds its amount if it is given:
 * one part of a transaction of writes.
 */
export const walletQueueGap = (ledger: Ledger, accountId: string, number: number, refund?: Kobo) =>
  walletUpdate(ledger, accountId, {
    UpdateExpression: `${refund === undefined ? "" : `SET ${changedBalance("+")} `}ADD queue_gaps :numbers`,
    ConditionExpression: "attribute_exists(pk)",
    ExpressionAttributeValues: {
      ":numbers": new Set([number]),
      ...(refund !== undefined && balanceValues(ledger, refund)),
    },
  });

const sameTurn = (turnUntil: string | undefined) => ({
  expression: turnUntil === undefined ? "attribute_not_exists(turn_until)" : "turn_until = :turn",
  values: turnUntil === undefined ? {} : { ":turn": turnUntil },
});

/** Ends an account's turn, on condition that it is still this one. The account moves behind the others in the list. */
export const walletTurnEnd = (ledger: Ledger, accountId: string, turnUntil: string) => {
  const turn = sameTurn(turnUntil);
  return walletUpdate(ledger, accountId, {
    UpdateExpression: "SET listed_at = :now REMOVE turn_until",
    ConditionExpression: `${turn.expression} AND attribute_exists(#open)`,
    ExpressionAttributeNames: listedNames,
    ExpressionAttributeValues: { ":now": isoTime(ledger.clock()), ...turn.values },
  });
};

/** Takes a wallet off the list, on condition that no order has begun to wait, or was claimed, since it was read. */
export const walletUnlisted = (ledger: Ledger, accountId: string, queue: WaitingQueue, turnUntil?: string) => {
  const conditions = [hasFront(queue), sameTurn(turnUntil)];
  return walletUpdate(ledger, accountId, {
    UpdateExpression:
      "SET queue_head = :next REMOVE #open, listed_at, queue_front, queue_front_at, queue_gaps, turn_until",
    ConditionExpression: [
      "queue_tail = :tail",
      "queue_head = :head",
      ...conditions.map(({ expression }) => expression),
    ].join(" AND "),
    ExpressionAttributeNames: listedNames,
    ExpressionAttributeValues: {
      ":tail": queue.tail,
      ":next": queue.tail + 1,
      ":head": queue.head,
      ...Object.assign({}, ...conditions.map(({ values }) => values)),
    },
  });
};

/**
 * Sets the balance and the numbers of the waiting orders, if nobody has changed either since the wallet was read: one
 * part of a transaction of writes. Only a carry-over corrects a wallet.
 */
export const walletCorrection = (ledger: Ledger, read: Wallet, balanceKobo: number, waiting: ReadonlySet<number>) => {
  const { queue_tail: tail } = read;
  const last = Math.max(tail ?? 0, ...waiting);
  return walletUpdate(ledger, read.account_id, {
    UpdateExpression: [
      "SET balance_kobo = :balance, version = version + :one, updated_at = :now",
      ...(last > 0 ? [", queue_tail = :last, queue_head = :next"] : []),
      ...(waiting.size > 0 ? [`, queue_front = :waiting, queue_front_at = :now, ${LISTED}`] : []),
      ` REMOVE queue_gaps, turn_until${waiting.size > 0 ? "" : ", queue_front, queue_front_at, #open, listed_at"}`,
    ].join(""),
    ConditionExpression: `version = :read AND ${tail === undefined ? "attribute_not_exists(queue_tail)" : "queue_tail = :tail"}`,
    ExpressionAttributeNames: listedNames,
    ExpressionAttributeValues: {
      ":balance": balanceKobo,
      ":one": 1,
      ":now": isoTime(ledger.clock()),
      ":read": read.version,
      ...(tail !== undefined && { ":tail": tail }),
      ...(last > 0 && { ":last": last, ":next": last + 1 }),
      ...(waiting.size > 0 && { ":waiting": waiting, ":open": WAITING }),
    },
  });
};
