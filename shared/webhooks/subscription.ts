import * as z from "zod";
import { type AccountEventName, accountEventName } from "../contract/webhook-events.ts";
import type { AuditPut } from "../ledger/audit.ts";
import { getItems } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { subscriptionPk, subscriptionsTo } from "../ledger/schema.ts";
import { transactWithRetry } from "../ledger/transact.ts";
import { isoTime } from "../platform/time.ts";
import { accountEvent } from "./webhook-event.ts";

/**
 * An account's choice of an event beside `transaction.updated`. It is an item of its own, so that the subscriptions to
 * an event are found without reading all accounts, and no purchase writes it. It is never deleted: without `open` the
 * subscription has ended.
 */
export const subscriptionSchema = z.object({
  pk: z.string(),
  account_id: z.string(),
  event: accountEventName,
  /** Its place in the list of the event's subscriptions. */
  open: z.string().optional(),
  listed_at: z.iso.datetime().optional(),
  /** The time of the operator's last change. */
  updated_at: z.iso.datetime(),
  /** Only for `wallet.low`: when the balance was found below the threshold. Removed once it no longer is. */
  low_since: z.iso.datetime().optional(),
  /** The event of `low_since`, until the delivery queue has it. */
  unsent: accountEvent.optional(),
  /** Only for `limit.near`: the limits of recent days and months whose events the delivery queue has got. */
  sent: z.array(z.string()).optional(),
});
export type Subscription = z.infer<typeof subscriptionSchema>;

/** The events beside `transaction.updated` that an account gets. */
export const subscribedEvents = async (ledger: Ledger, accountId: string): Promise<readonly AccountEventName[]> => {
  const keys = accountEventName.options.map((event) => ({ pk: subscriptionPk(event, accountId) }));
  const stored = await getItems(ledger, keys, subscriptionSchema);
  return stored.filter(({ open }) => open !== undefined).map(({ event }) => event);
};

/** Makes these the account's events beside `transaction.updated`. What does not change keeps its state. */
export const setSubscribedEvents = async (
  ledger: Ledger,
  accountId: string,
  events: readonly AccountEventName[],
  audit: AuditPut,
): Promise<void> => {
  const before = await subscribedEvents(ledger, accountId);
  const changed = accountEventName.options.filter((event) => events.includes(event) !== before.includes(event));
  if (changed.length === 0) return;
  const now = isoTime(ledger.clock());
  const puts = changed.map((event) => {
    const Item: Subscription = {
      pk: subscriptionPk(event, accountId),
      account_id: accountId,
      event,
      ...(events.includes(event) && { open: subscriptionsTo(event), listed_at: now }),
      updated_at: now,
    };
    return { Put: { TableName: ledger.table, Item } };
  });
  await transactWithRetry(ledger, [...puts, audit]);
};
