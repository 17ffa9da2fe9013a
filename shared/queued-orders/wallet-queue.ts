import type { Ledger } from "../ledger/ledger.ts";
import { LISTED, listedNames, listedValues, returned, walletUpdate } from "../ledger/wallet.ts";
import { isoTime } from "../platform/time.ts";
import type { OrderQueue } from "./order-queue.ts";

/** Gives the next number to an order that begins to wait: one part of a transaction of writes. */
export const walletQueueJoin = (ledger: Ledger, accountId: string, { tail }: OrderQueue) =>
  walletUpdate(ledger, accountId, {
    UpdateExpression: `SET queue_tail = :number, queue_head = if_not_exists(queue_head, :number), ${LISTED}`,
    ConditionExpression: tail === 0 ? "attribute_not_exists(queue_tail)" : "queue_tail = :tail",
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
      ":turn": turnUntil,
      ...listedValues(ledger),
    },
    ...returned,
  });

/** Which numbers the queue has in front, as a condition on the stored wallet. */
const hasFront = ({ front }: OrderQueue) => ({
  expression: front.size === 0 ? "attribute_not_exists(queue_front)" : "queue_front = :front",
  values: front.size === 0 ? {} : { ":front": front },
});

const without = (numbers: ReadonlySet<number>, kept: ReadonlySet<number>): ReadonlySet<number> =>
  new Set([...numbers].filter((number) => !kept.has(number)));

type QueueChange = { readonly before: OrderQueue; readonly after: OrderQueue };

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

/** Ends an account's turn, on condition that it is still this one. The account moves behind the others in the list. */
export const walletTurnEnd = (ledger: Ledger, accountId: string, turnUntil: string) =>
  walletUpdate(ledger, accountId, {
    UpdateExpression: "SET listed_at = :now REMOVE turn_until",
    ConditionExpression: "turn_until = :turn",
    ExpressionAttributeValues: { ":now": isoTime(ledger.clock()), ":turn": turnUntil },
  });

const sameTurn = (turnUntil: string | undefined) => ({
  expression: turnUntil === undefined ? "attribute_not_exists(turn_until)" : "turn_until = :turn",
  values: { ":turn": turnUntil },
});

/** Takes a wallet off the list, on condition that no order has begun to wait, or was claimed, since it was read. */
export const walletUnlisted = (ledger: Ledger, accountId: string, queue: OrderQueue, turnUntil?: string) => {
  const conditions = [hasFront(queue), sameTurn(turnUntil)];
  return walletUpdate(ledger, accountId, {
    UpdateExpression:
      "SET queue_head = :next REMOVE #open, listed_at, queue_front, queue_front_at, queue_gaps, turn_until",
    ConditionExpression: ["queue_tail = :tail", ...conditions.map(({ expression }) => expression)].join(" AND "),
    ExpressionAttributeNames: listedNames,
    ExpressionAttributeValues: {
      ":tail": queue.tail,
      ":next": queue.tail + 1,
      ...Object.assign({}, ...conditions.map(({ values }) => values)),
    },
  });
};
