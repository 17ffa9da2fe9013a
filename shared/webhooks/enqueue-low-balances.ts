import { nairaFromKobo } from "../contract/values/money.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { putIf } from "../ledger/put-if.ts";
import { lowBalanceOf, type Wallet } from "../ledger/wallet.ts";
import { type Deadline, deadlineWithin } from "../platform/deadline.ts";
import { isoTime } from "../platform/time.ts";
import { CHECK_BALANCES_MS_MAX, RUN_RESERVE_MS } from "../platform/time-budgets.ts";
import { type CheckDeps, checkSubscriptions } from "./check-subscriptions.ts";
import type { Subscription } from "./subscription.ts";
import { walletLowBody } from "./webhook-body.ts";
import type { AccountEvent } from "./webhook-event.ts";

/**
 * Enqueues `wallet.low` for each subscription of an account whose balance is below its threshold for the first time since it
 * was not. Resolves with the number of events.
 */
export const enqueueLowBalances = (deps: CheckDeps, deadline: Deadline): Promise<number> => {
  const own = deadlineWithin(deadline, CHECK_BALANCES_MS_MAX + RUN_RESERVE_MS, deps.ledger.clock);
  return checkSubscriptions(deps.ledger, "wallet.low", own, async (subscription, wallet) =>
    (await checkBalance(deps, subscription, wallet)) ? 1 : 0,
  );
};

/**
 * The event is stored with the mark before it is enqueued, and removed after that: a crash in between sends the same
 * event again, and loses none.
 */
const checkBalance = async (
  { ledger, queue }: CheckDeps,
  { low_since, unsent, ...subscription }: Subscription,
  wallet: Wallet,
): Promise<boolean> => {
  const enqueue = async (since: string, event: AccountEvent): Promise<boolean> => {
    await queue.send({ ...event, endpoint: subscription.endpoint }, subscription.account_id);
    await replace(ledger, since, { ...subscription, low_since: since });
    return true;
  };
  if (low_since !== undefined && unsent !== undefined) return enqueue(low_since, unsent);
  const low = lowBalanceOf(wallet);
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

type LowBalance = NonNullable<ReturnType<typeof lowBalanceOf>>;

const lowBalanceEvent = (accountId: string, at: string, { balance, threshold }: LowBalance): AccountEvent => ({
  event: "wallet.low",
  account_id: accountId,
  occurrence: at,
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
