import * as z from "#zod";
import { subscriptionItem } from "../access/subscription-item.ts";
import { replaceableObject } from "../contract/lazy-object.ts";
import { accountEvent } from "./webhook-event.ts";

/** A subscription, with what was found out for it. */
export const subscriptionSchema = replaceableObject(() => ({
  ...subscriptionItem.shape,
  /** Only for `wallet.low`: when the balance was found below the threshold. Removed once it no longer is. */
  low_since: z.optional(z.iso.datetime()),
  /** The event of `low_since`, until the delivery queue has it. */
  unsent: z.optional(replaceableObject(() => accountEvent.shape)),
  /** Only for `limit.near`: the limits of recent days and months whose events the delivery queue has got. */
  sent: z.optional(z.array(z.string())),
}));
export type Subscription = z.infer<typeof subscriptionSchema>;
