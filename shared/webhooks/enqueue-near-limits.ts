import { requireAccount } from "../access/account-store.ts";
import { HOUR_MS } from "../contract/values/durations.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { putIf } from "../ledger/put-if.ts";
import { keyOfUsage } from "../ledger/schema.ts";
import { hasPeriodLimit, type NearLimit, nearLimits, readKeyUsages } from "../ledger/usage.ts";
import type { Wallet } from "../ledger/wallet.ts";
import type { Deadline } from "../platform/deadline.ts";
import { isoTime } from "../platform/time.ts";
import { type CheckDeps, checkSubscriptions } from "./check-subscriptions.ts";
import type { Subscription } from "./subscription.ts";
import { limitNearBody } from "./webhook-body.ts";
import type { AccountEvent } from "./webhook-event.ts";

/** Counters of an earlier day are no news: in every time zone, a day has ended 36 hours after it began in UTC. */
const NEWS_MS = 48 * HOUR_MS;

/**
 * Enqueues `limit.near` for each limit of a subscribed account and its keys of which little is left, once for each limit
 * and period. Resolves with the number of events.
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
  const { account_id: accountId, endpoint, sent = [], updated_at } = subscription;
  const from = isoTime(ledger.clock() - NEWS_MS);
  const unsent = (await usages(ledger, wallet))
    .filter(({ usage: { usage_day = "" } }) => usage_day > from)
    .flatMap(({ keyId, usage, limits }) => nearLimits(usage, limits).map((near) => ({ keyId, ...near })))
    .filter((near) => !sent.includes(nameOf(near)));
  if (unsent.length === 0) return 0;
  for (const near of unsent) await queue.send({ ...limitNearEvent(accountId, near), endpoint }, accountId);
  const recent = sent.filter((name) => isRecent(name, from));
  const recorded: Subscription = { ...subscription, sent: [...recent, ...unsent.map(nameOf)] };
  await putIf(ledger, recorded, {
    ConditionExpression: "attribute_exists(#open) AND updated_at = :read",
    ExpressionAttributeNames: { "#open": "open" },
    ExpressionAttributeValues: { ":read": updated_at },
  });
  return unsent.length;
};

/** The counters of the account and its limited keys, with their present limits. */
const usages = async ({ db, ...ledger }: Ledger, wallet: Wallet) => {
  const { keys, order_limits: limits } = await requireAccount({ db, ledgerTable: ledger.table }, wallet.account_id);
  const limited = keys.filter(({ status, order_limits }) => status === "active" && hasPeriodLimit(order_limits));
  const limitsOf = new Map(limited.map(({ key_id, order_limits }) => [key_id, order_limits]));
  const ofKeys = (await readKeyUsages({ db, ...ledger }, [...limitsOf.keys()])).map((usage) => {
    const keyId = keyOfUsage(usage.pk);
    return { keyId, usage, limits: limitsOf.get(keyId) };
  });
  return [{ keyId: "", usage: wallet, limits }, ...ofKeys];
};

type NearLimitOf = NearLimit & { readonly keyId: string };

/** One event is sent for each name. */
const nameOf = ({ keyId, limit, max, period }: NearLimitOf): string => [keyId, limit, max, period].join(".");

/** Whether the name's limit may still be news: counters of a day after `from` can be of its day or month. */
const isRecent = (name: string, from: string): boolean => {
  const period = name.slice(name.lastIndexOf(".") + 1);
  return period >= from.slice(0, period.length);
};

const limitNearEvent = (account_id: string, { keyId, ...near }: NearLimitOf): AccountEvent => ({
  event: "limit.near",
  account_id,
  occurrence: nameOf({ keyId, ...near }),
  body: limitNearBody({ account_id, key_id: keyId, ...near }),
});
