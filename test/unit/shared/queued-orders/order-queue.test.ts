import { expect, test } from "vitest";
import { emptyWallet } from "../../../../shared/ledger/wallet.ts";
import {
  afterClaim,
  type OrderQueue,
  queuedNumbers,
  queueLength,
  queueOf,
  withFront,
  withGap,
  withoutEnded,
} from "../../../../shared/queued-orders/order-queue.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const queue = (tail: number, head: number, front: number[] = [], gaps: number[] = []): OrderQueue => ({
  tail,
  head,
  front: new Set(front),
  gaps: new Set(gaps),
});
const numbers = (of: OrderQueue): readonly number[] => [...queuedNumbers(of)];

test("no order waits in the queue of a wallet that never had one", () => {
  const none = queueOf(emptyWallet("acc_1", NOON_MS));
  expect(none).toEqual(queue(0, 1));
  expect([numbers(none), queueLength(none)]).toEqual([[], 0]);
});

test("a stored queue is read with all its numbers", () => {
  const wallet = {
    ...emptyWallet("acc_1", NOON_MS),
    ...{ queue_tail: 9, queue_head: 7, queue_front: new Set([5]), queue_gaps: new Set([8]) },
  };
  expect(queueOf(wallet)).toEqual(queue(9, 7, [5], [8]));
});

test("those in front come first, by their numbers, then the others; gaps do not wait", () => {
  const mixed = queue(9, 6, [5, 2, 3], [3, 7]);
  expect(numbers(mixed)).toEqual([2, 5, 6, 8, 9]);
  expect(queueLength(mixed)).toBe(5);
});

test("after a claim, the number and all that are before it have left the queue", () => {
  expect(afterClaim(queue(9, 6), 6)).toEqual(queue(9, 7));
  // 6 and 7 have ended without a claim.
  expect(afterClaim(queue(9, 6, [], [6, 7]), 8)).toEqual(queue(9, 9));
  expect(afterClaim(queue(9, 6, [2, 5], [7]), 2)).toEqual(queue(9, 6, [5], [7]));
  expect(afterClaim(queue(9, 6, [2, 5], [2, 5]), 6)).toEqual(queue(9, 7));
});

test("a claimed number that waits again comes first, and one that ended is a gap", () => {
  const claimed = afterClaim(queue(3, 1), 1);
  expect(numbers(withFront(claimed, 1))).toEqual([1, 2, 3]);
  expect(numbers(withGap(claimed, 2))).toEqual([3]);
});

test("ended orders in front and at the head leave the queue, and those behind one that waits stay gaps", () => {
  expect(withoutEnded(queue(9, 6, [2, 4], [2, 3, 6, 7, 9]))).toEqual(queue(9, 8, [4], [9]));
  expect(withoutEnded(queue(7, 6, [], [6, 7]))).toEqual(queue(7, 8));
  expect(withoutEnded(queue(9, 6, [5], [8]))).toEqual(queue(9, 6, [5], [8]));
});
