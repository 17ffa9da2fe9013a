import { readTransaction } from "../../../shared/ledger/find-transactions.ts";
import type { Ledger } from "../../../shared/ledger/ledger.ts";
import { isQueuedOrder, type QueuedOrder } from "../../../shared/ledger/transaction.ts";
import { readWallet, walletNotRestricted } from "../../../shared/ledger/wallet.ts";
import { deadlineIn } from "../../../shared/platform/deadline.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { afterClaim, queueLength, queueOf } from "../../../shared/queued-orders/order-queue.ts";
import { type ClaimedOrder, type ClaimResult, claimOrder } from "../../../shared/queued-orders/queue-store.ts";
import { walletQueueClaim } from "../../../shared/queued-orders/wallet-queue.ts";

/** How many orders wait in an account's queue. */
export const queuedCount = async (ledger: Ledger, accountId: string): Promise<number> =>
  queueLength(queueOf(await readWallet(ledger, accountId)));

/** The order as it is stored: it must wait. */
export const storedQueued = async (ledger: Ledger, pk: string): Promise<QueuedOrder> => {
  const stored = await readTransaction(ledger, pk);
  if (stored === undefined || !isQueuedOrder(stored)) throw new Error("The order does not wait");
  return stored;
};

/** A claim as the sender makes it, of an order whose queue is read just before. */
export const claimAsSender = async (ledger: Ledger, order: QueuedOrder): Promise<ClaimResult> => {
  const { account_id: accountId, queued } = order;
  const before = queueOf(await readWallet(ledger, accountId));
  const part =
    queued.number === undefined
      ? walletNotRestricted(ledger, accountId)
      : walletQueueClaim(
          ledger,
          accountId,
          { before, after: afterClaim(before, queued.number) },
          isoTime(ledger.clock() + 20_000),
        );
  return claimOrder(ledger, order, [part], deadlineIn(29_000));
};

/** The same, which must succeed: the order that is the claim's to send. */
export const claimedAsSender = async (ledger: Ledger, order: QueuedOrder): Promise<ClaimedOrder> => {
  const claim = await claimAsSender(ledger, order);
  if (claim.kind !== "claimed") throw new Error(`The order is ${claim.kind}`);
  return claim.claimed;
};

/** An account's wallet, with the number of orders in its queue. */
export const walletAndCount = async (ledger: Ledger, accountId: string) => {
  const wallet = await readWallet(ledger, accountId);
  return { ...wallet, queued_orders: queueLength(queueOf(wallet)) };
};
