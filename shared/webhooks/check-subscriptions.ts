import type { AccountEventName } from "../contract/webhook-events.ts";
import { getItems, getItemsByPk, type OnUnreadable } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type OpenKey, subscriptionKeyBatches } from "../ledger/query-index.ts";
import { walletPk } from "../ledger/schema.ts";
import { type Wallet, walletSchema } from "../ledger/wallet.ts";
import type { Deadline } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import { mapInOrder } from "../platform/map-in-order.ts";
import { fromMovingStart } from "../platform/moving-start.ts";
import { RUN_RESERVE_MS } from "../platform/time-budgets.ts";
import type { DeliveryQueue } from "./delivery-queue.ts";
import { type Subscription, subscriptionSchema } from "./subscription.ts";

export type CheckDeps = { readonly ledger: Ledger; readonly queue: DeliveryQueue };

/** Enqueues what is due to one subscription, and resolves with the number of events. */
type Check = (subscription: Subscription, wallet: Wallet) => Promise<number>;

const CONCURRENT_ACCOUNTS = 10;

/**
 * Calls `check` for each subscription to the event. Resolves with the number of events. Each run begins at another place:
 * of more subscriptions than a run can check, the last ones would never be reached.
 */
export const checkSubscriptions = async (
  ledger: Ledger,
  event: AccountEventName,
  deadline: Deadline,
  check: Check,
): Promise<number> => {
  const onUnreadable: OnUnreadable = (record, error) =>
    log.alarm("subscriptions.not_checked", { webhook: event, record, ...errorFields(error) });
  let enqueued = 0;
  const batches = await Array.fromAsync(subscriptionKeyBatches(ledger, event));
  for (const keys of fromMovingStart(batches, ledger.clock())) {
    if (deadline.remainingMs() <= RUN_RESERVE_MS) {
      log.alarm("subscriptions.not_checked", { webhook: event, reason: "out_of_time" });
      break;
    }
    try {
      enqueued += await checkBatch(ledger, keys, check, onUnreadable);
    } catch (error) {
      log.alarm("subscriptions.not_checked", { webhook: event, ...errorFields(error) });
    }
  }
  return enqueued;
};

/** A subscription or wallet that cannot be read does not delay the others. */
const checkBatch = async (
  ledger: Ledger,
  keys: readonly OpenKey[],
  check: Check,
  onUnreadable: OnUnreadable,
): Promise<number> => {
  const stored = await getItems(ledger, keys, subscriptionSchema, onUnreadable);
  // The index lags: some may have ended.
  const subscriptions = stored.filter(({ open }) => open !== undefined);
  const pks = subscriptions.map(({ account_id }) => walletPk(account_id));
  const wallets = await getItemsByPk(ledger, pks, walletSchema, onUnreadable);
  const checks = mapInOrder(subscriptions, CONCURRENT_ACCOUNTS, (subscription) =>
    checkSafely(check, subscription, wallets.get(walletPk(subscription.account_id))),
  );
  let enqueued = 0;
  for await (const events of checks) enqueued += events;
  return enqueued;
};

/** A fault with one account does not delay the others; the next run tries again. */
const checkSafely = async (check: Check, subscription: Subscription, wallet: Wallet | undefined): Promise<number> => {
  try {
    return wallet === undefined ? 0 : await check(subscription, wallet);
  } catch (error) {
    const { account_id: account, event: webhook } = subscription;
    log.alarm("subscriptions.not_checked", { webhook, account, ...errorFields(error) });
    return 0;
  }
};
