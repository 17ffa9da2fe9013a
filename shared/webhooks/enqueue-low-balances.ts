import { type Kobo, nairaFromKobo } from "../contract/money.ts";
import { getItems } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { putIf } from "../ledger/put-if.ts";
import { type OpenKey, subscriptionKeyBatches } from "../ledger/query-index.ts";
import { walletPk } from "../ledger/schema.ts";
import { type Wallet, walletSchema } from "../ledger/wallet.ts";
import type { Deadline } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import { mapInOrder } from "../platform/map-in-order.ts";
import { isoTime } from "../platform/time.ts";
import { RUN_RESERVE_MS } from "../platform/time-budgets.ts";
import type { DeliveryQueue } from "./delivery-queue.ts";
import { webhookId } from "./signature.ts";
import { type Subscription, subscriptionSchema } from "./subscription.ts";
import { walletLowBody } from "./webhook-body.ts";
import type { AccountEvent } from "./webhook-event.ts";

type LowBalanceDeps = { readonly ledger: Ledger; readonly queue: DeliveryQueue };

const CONCURRENT_ACCOUNTS = 10;

/**
 * Enqueues `wallet.low` for each subscribed account whose balance is below its threshold for the first time since it
 * was not. Resolves with the number of events.
 */
export const enqueueLowBalances = async (deps: LowBalanceDeps, deadline: Deadline): Promise<number> => {
  let enqueued = 0;
  for await (const keys of subscriptionKeyBatches(deps.ledger, "wallet.low")) {
    if (deadline.remainingMs() <= RUN_RESERVE_MS) {
      log.alarm("low_balances.not_checked", { reason: "out_of_time" });
      break;
    }
    try {
      enqueued += await enqueueBatch(deps, keys);
    } catch (error) {
      log.alarm("low_balances.not_checked", errorFields(error));
    }
  }
  return enqueued;
};

const enqueueBatch = async (deps: LowBalanceDeps, keys: readonly OpenKey[]): Promise<number> => {
  const stored = await getItems(deps.ledger, keys, subscriptionSchema);
  // The index lags: some may have ended.
  const subscriptions = stored.filter(({ open }) => open !== undefined);
  const walletKeys = subscriptions.map(({ account_id }) => ({ pk: walletPk(account_id) }));
  const wallets = await getItems(deps.ledger, walletKeys, walletSchema);
  const walletOf = new Map(wallets.map((wallet) => [wallet.account_id, wallet]));
  let enqueued = 0;
  const checks = mapInOrder(subscriptions, CONCURRENT_ACCOUNTS, (subscription) =>
    checkSafely(deps, subscription, walletOf.get(subscription.account_id)),
  );
  for await (const isEnqueued of checks) if (isEnqueued) enqueued += 1;
  return enqueued;
};

/** A fault with one account does not delay the others; the next run tries again. */
const checkSafely = async (
  deps: LowBalanceDeps,
  subscription: Subscription,
  wallet: Wallet | undefined,
): Promise<boolean> => {
  try {
    return await checkBalance(deps, subscription, wallet);
  } catch (error) {
    log.alarm("low_balances.not_checked", { account: subscription.account_id, ...errorFields(error) });
    return false;
  }
};

/**
 * The event is stored with the mark before it is enqueued, and removed after that: a crash in between sends the same
 * event again, and loses none.
 */
const checkBalance = async (
  { ledger, queue }: LowBalanceDeps,
  { low_since, unsent, ...subscription }: Subscription,
  wallet: Wallet | undefined,
): Promise<boolean> => {
  const enqueue = async (since: string, event: AccountEvent): Promise<boolean> => {
    await queue.send(event, subscription.account_id);
    await replace(ledger, since, { ...subscription, low_since: since });
    return true;
  };
  if (low_since !== undefined && unsent !== undefined) return enqueue(low_since, unsent);
  const low = wallet && lowBalanceOf(wallet);
  if (low === undefined) {
    if (low_since !== undefined) await replace(ledger, low_since, subscription);
    return false;
  }
  if (low_since !== undefined) return false;
  const at = isoTime(ledger.clock());
  const event = lowBalanceEvent(subscription.account_id, at, low);
  const isMarked = await replace(ledger, undefined, { ...subscription, low_since: at, unsent: event });
  return isMarked && enqueue(at, event);
};

type LowBalance = { readonly balance: Kobo; readonly threshold: Kobo };

const lowBalanceOf = ({ balance_kobo, low_balance_threshold_kobo }: Wallet): LowBalance | undefined =>
  low_balance_threshold_kobo !== undefined && balance_kobo < low_balance_threshold_kobo
    ? { balance: balance_kobo, threshold: low_balance_threshold_kobo }
    : undefined;

const lowBalanceEvent = (accountId: string, at: string, { balance, threshold }: LowBalance): AccountEvent => ({
  event: "wallet.low",
  account_id: accountId,
  webhook_id: webhookId(`wallet.low.${accountId}`, at),
  body: walletLowBody({
    account_id: accountId,
    balance: nairaFromKobo(balance),
    threshold: nairaFromKobo(threshold),
    at,
  }),
});

/**
 * Replaces the subscription if it has not ended and its mark is the one that was read; resolves with whether it did.
 */
const replace = (ledger: Ledger, lowSince: string | undefined, item: Subscription): Promise<boolean> =>
  putIf(ledger, item, {
    ConditionExpression: `attribute_exists(#open) AND ${
      lowSince === undefined ? "attribute_not_exists(low_since)" : "low_since = :low_since"
    }`,
    ExpressionAttributeNames: { "#open": "open" },
    ...(lowSince !== undefined && { ExpressionAttributeValues: { ":low_since": lowSince } }),
  });
