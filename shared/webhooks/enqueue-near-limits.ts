import { findAccount } from "../access/account-store.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { putIf } from "../ledger/put-if.ts";
import { keyOfUsage } from "../ledger/schema.ts";
import { hasPeriodLimit, type NearLimit, nearLimits, readKeyUsages, type Usage } from "../ledger/usage.ts";
import type { Wallet } from "../ledger/wallet.ts";
import type { Deadline } from "../platform/deadline.ts";
import { isoTime } from "../platform/time.ts";
import { type CheckDeps, checkSubscriptions } from "./check-subscriptions.ts";
import { webhookId } from "./signature.ts";
import type { Subscription } from "./subscription.ts";
import { limitNearBody } from "./webhook-body.ts";
import type { AccountEvent } from "./webhook-event.ts";

/** Counters of an earlier day are no news: in every time zone, a day has ended 36 hours after it began in UTC. */
const NEWS_MS = 48 * 3_600_000;

/**
 * Enqueues `limit.near` for each limit of a subscribed account and its keys of which debits have marked that little is
 * left, once for each limit and period. Resolves with the number of events.
 */
export const enqueueNearLimits = (deps: CheckDeps, deadline: Deadline): Promise<number> =>
  checkSubscriptions(deps.ledger, "limit.near", deadline, (subscription, wallet) =>
    enqueueUnsent(deps, subscription, wallet),
  );

/** An event is the same whenever it is made, so a run that dies before it has recorded it sends only a copy of it. */
const enqueueUnsent = async (
  { ledger, queue }: CheckDeps,
  subscription: Subscription,
  wallet: Wallet,
): Promise<number> => {
  const { account_id: accountId, sent = [], updated_at } = subscription;
  const from = isoTime(ledger.clock() - NEWS_MS);
  const events = [{ keyId: "", usage: wallet }, ...(await keyUsages(ledger, accountId))]
    .filter(({ usage: { usage_day = "" } }) => usage_day > from)
    .flatMap(({ keyId, usage }) => nearLimits(usage).map((near) => limitNearEvent(accountId, keyId, near)));
  const unsent = events.filter(({ webhook_id }) => !sent.includes(webhook_id));
  if (unsent.length === 0) return 0;
  for (const event of unsent) await queue.send(event, accountId);
  const recorded: Subscription = { ...subscription, sent: events.map(({ webhook_id }) => webhook_id) };
  await putIf(ledger, recorded, {
    ConditionExpression: "attribute_exists(#open) AND updated_at = :read",
    ExpressionAttributeNames: { "#open": "open" },
    ExpressionAttributeValues: { ":read": updated_at },
  });
  return unsent.length;
};

type CountedKey = { readonly keyId: string; readonly usage: Usage };

const keyUsages = async ({ db, ...ledger }: Ledger, accountId: string): Promise<readonly CountedKey[]> => {
  const account = await findAccount({ db, ledgerTable: ledger.table }, accountId);
  const limited = account?.keys.filter(
    ({ status, order_limits }) => status === "active" && hasPeriodLimit(order_limits),
  );
  const usages = await readKeyUsages({ db, ...ledger }, limited?.map(({ key_id }) => key_id) ?? []);
  return usages.map((usage) => ({ keyId: keyOfUsage(usage.pk), usage }));
};

const limitNearEvent = (accountId: string, keyId: string, { limit, max, period }: NearLimit): AccountEvent => ({
  event: "limit.near",
  account_id: accountId,
  webhook_id: webhookId(`limit.near.${accountId}`, [keyId, limit, max, period].join(".")),
  body: limitNearBody({ account_id: accountId, key_id: keyId, limit, max, period }),
});
