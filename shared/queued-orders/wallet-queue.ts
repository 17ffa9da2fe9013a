import type { Ledger } from "../ledger/ledger.ts";
import type { UpdateParts } from "../ledger/update-parts.ts";
import { listed, unlisted, walletUpdate } from "../ledger/wallet.ts";
import { isoTime } from "../platform/time.ts";
import type { OrderQueue } from "./order-queue.ts";

/** Gives the next number to an order that begins to wait: one part of a transaction of writes. */
export const walletQueueJoin = (ledger: Ledger, accountId: string, { tail }: OrderQueue) =>
  walletUpdate(ledger, accountId, listed(ledger), {
    sets: ["queue_tail = :number, queue_head = if_not_exists(queue_head, :number)"],
    conditions: [tail === 0 ? "attribute_not_exists(queue_tail)" : "queue_tail = :tail"],
    values: { ":number": tail + 1, ...(tail > 0 && { ":tail": tail }) },
  });

/**
 * Puts the number of a claimed order back in front: one part of a transaction of writes. `turnUntil`: the turn that the
 * claim began, for an order that was never sent. The write fails if another order was claimed since, or if the wallet
 * has left the list: then new orders are sent at once.
 */
export const walletQueueReturn = (ledger: Ledger, accountId: string, number: number, turnUntil?: string) =>
  walletUpdate(ledger, accountId, listed(ledger), {
    sets: ["queue_front_at = :now"],
    adds: ["queue_front :numbers"],
    conditions: [turnUntil === undefined ? "attribute_exists(pk)" : "turn_until = :turn"],
    values: { ":numbers": new Set([number]), ":turn": turnUntil },
  });

/** Which numbers the queue has in front, as a condition on the stored wallet. */
const hasFront = ({ front }: OrderQueue): UpdateParts =>
  front.size === 0
    ? { conditions: ["attribute_not_exists(queue_front)"] }
    : { conditions: ["queue_front = :front"], values: { ":front": front } };

/** Takes numbers out of a set, if there are any. */
const without = (
  name: "queue_front" | "queue_gaps",
  before: ReadonlySet<number>,
  after: ReadonlySet<number>,
): UpdateParts => {
  const removed = [...before].filter((number) => !after.has(number));
  return removed.length === 0 ? {} : { deletes: [`${name} :${name}`], values: { [`:${name}`]: new Set(removed) } };
};

type QueueChange = { readonly before: OrderQueue; readonly after: OrderQueue };

/** Takes numbers out of the queue, on condition that no claim or return has changed it. */
const queueRemoval = ({ before, after }: QueueChange): readonly UpdateParts[] => [
  {
    sets: ["queue_head = :after"],
    conditions: ["queue_head = :before"],
    values: { ":before": before.head, ":after": after.head },
  },
  hasFront(before),
  without("queue_front", before.front, after.front),
  without("queue_gaps", before.gaps, after.gaps),
];

/**
 * Claims a number, on condition that no other claim or return has changed the queue: one part of a transaction of
 * writes. Until `turnUntil` the order's request may begin.
 */
export const walletQueueClaim = (ledger: Ledger, accountId: string, change: QueueChange, turnUntil: string) =>
  walletUpdate(ledger, accountId, ...queueRemoval(change), {
    sets: ["turn_until = :until"],
    conditions: ["attribute_not_exists(restricted)"],
    values: { ":until": turnUntil },
  });

/** Takes numbers out of the queue whose orders have ended: without it they would stay until the account's next claim. */
export const walletQueueTrim = (ledger: Ledger, accountId: string, change: QueueChange) =>
  walletUpdate(ledger, accountId, ...queueRemoval(change));

/** Ends an account's turn, on condition that it is still this one. The account moves behind the others in the list. */
export const walletTurnEnd = (ledger: Ledger, accountId: string, turnUntil: string) =>
  walletUpdate(ledger, accountId, {
    sets: ["listed_at = :now"],
    removes: ["turn_until"],
    conditions: ["turn_until = :turn"],
    values: { ":now": isoTime(ledger.clock()), ":turn": turnUntil },
  });

/** Takes a wallet off the list, on condition that no order has begun to wait, or was claimed, since it was read. */
export const walletUnlisted = (ledger: Ledger, accountId: string, queue: OrderQueue, turnUntil?: string) =>
  walletUpdate(ledger, accountId, unlisted, hasFront(queue), {
    sets: ["queue_head = :next"],
    removes: ["queue_front, queue_front_at, queue_gaps, turn_until"],
    conditions: [
      "queue_tail = :tail",
      turnUntil === undefined ? "attribute_not_exists(turn_until)" : "turn_until = :turn",
    ],
    values: { ":tail": queue.tail, ":next": queue.tail + 1, ":turn": turnUntil },
  });
