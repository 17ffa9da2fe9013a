import * as z from "#zod";
import { accountEventName } from "../contract/webhook-events.ts";
import type { Writes } from "../ledger/ledger.ts";
import { subscriptionPk, subscriptionsTo } from "../ledger/schema.ts";
import { type Clock, isoTime, systemClock } from "../platform/time.ts";

/**
 * An endpoint's choice of an event beside `transaction.updated`. It is an item of its own, so that the subscriptions to
 * an event are found without reading all accounts, and no purchase writes it. It is never deleted: without `open` the
 * subscription has ended. shared/webhooks/subscription.ts has what is found out for it.
 */
export const subscriptionItem = z.object({
  pk: z.string(),
  account_id: z.string(),
  endpoint: z.string(),
  event: accountEventName,
  /** Its place in the list of the event's subscriptions. */
  open: z.optional(z.string()),
  listed_at: z.optional(z.iso.datetime()),
  /** The time of the last change of the choice. */
  updated_at: z.iso.datetime(),
});
export type SubscriptionItem = z.infer<typeof subscriptionItem>;

type Subscriber = {
  readonly status: string;
  readonly account_id: string;
  readonly endpoints: readonly { readonly id: string; readonly events: readonly string[] }[];
};

/** Begins and ends subscriptions as an account's endpoints choose; a closed account has none. Others keep their state. */
export const subscriptionWrites = (
  { ledgerTable, clock = systemClock }: { readonly ledgerTable: string; readonly clock?: Clock },
  before: Subscriber,
  after: Subscriber,
): Writes => {
  const { account_id: accountId } = after;
  const choices = ({ status, endpoints }: Subscriber): Set<string> =>
    new Set(
      (status === "closed" ? [] : endpoints).flatMap(({ id, events }) =>
        events.map((event) => subscriptionPk(event, { accountId, endpoint: id })),
      ),
    );
  const [old, current] = [choices(before), choices(after)];
  const now = isoTime(clock());
  const ids = new Set([...before.endpoints, ...after.endpoints].map(({ id }) => id));
  return [...ids].flatMap((endpoint) =>
    accountEventName.options.flatMap((event) => {
      const pk = subscriptionPk(event, { accountId, endpoint });
      if (old.has(pk) === current.has(pk)) return [];
      const Item: SubscriptionItem = {
        ...{ pk, account_id: accountId, endpoint, event, updated_at: now },
        ...(current.has(pk) && { open: subscriptionsTo(event), listed_at: now }),
      };
      return [{ Put: { TableName: ledgerTable, Item } }];
    }),
  );
};
