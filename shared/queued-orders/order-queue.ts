import type { Wallet } from "../ledger/wallet.ts";

/**
 * Which of an account's orders wait, and in which order they are sent. An order that begins to wait gets the next
 * number, and orders are claimed by their numbers. The wallet holds this state: a write that changes it is conditional on
 * it, so neither clocks nor a lagging index decide the order.
 */
export type OrderQueue = {
  /** The number that was given last. */
  readonly tail: number;
  /** The lowest number that was never claimed. */
  readonly head: number;
  /** Numbers below the head whose orders wait again, because the upstream's limit refused them. */
  readonly front: ReadonlySet<number>;
  /** Numbers whose orders ended without a claim: refunded, or settled. */
  readonly gaps: ReadonlySet<number>;
};

export const queueOf = ({ queue_tail = 0, queue_head = 1, queue_front, queue_gaps }: Wallet): OrderQueue => ({
  tail: queue_tail,
  head: queue_head,
  front: queue_front ?? new Set(),
  gaps: queue_gaps ?? new Set(),
});

/** The numbers of the orders that wait, in the order in which they are sent. */
export function* queuedNumbers({ tail, head, front, gaps }: OrderQueue): Generator<number, void, void> {
  for (const number of [...front].toSorted((one, other) => one - other)) if (!gaps.has(number)) yield number;
  for (let number = head; number <= tail; number += 1) if (!gaps.has(number)) yield number;
}

/** How many orders wait. */
export const queueLength = (queue: OrderQueue): number => [...queuedNumbers(queue)].length;

/** The queue once this number is claimed: what is before it has left the queue too. */
export const afterClaim = ({ tail, head, front, gaps }: OrderQueue, number: number): OrderQueue => ({
  tail,
  head: Math.max(head, number + 1),
  front: above(front, number),
  gaps: above(gaps, number),
});

/** The queue once a claimed number waits again. */
export const withFront = (queue: OrderQueue, number: number): OrderQueue => ({
  ...queue,
  front: new Set([...queue.front, number]),
});

/** The queue without the numbers in front and at its head whose orders have ended. */
export const withoutEnded = ({ tail, head, front, gaps }: OrderQueue): OrderQueue => {
  let next = head;
  while (gaps.has(next)) next += 1;
  return {
    tail,
    head: next,
    front: new Set([...front].filter((number) => !gaps.has(number))),
    gaps: above(gaps, next),
  };
};

export const withGap = (queue: OrderQueue, number: number): OrderQueue => ({
  ...queue,
  gaps: new Set([...queue.gaps, number]),
});

const above = (numbers: ReadonlySet<number>, limit: number): ReadonlySet<number> =>
  new Set([...numbers].filter((number) => number > limit));
