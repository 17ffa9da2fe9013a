import * as z from "zod";
import { subscriptionItem } from "../access/subscription-item.ts";
import { accountEvent } from "./webhook-event.ts";

/** A subscription, with what was found out for it. */
export const subscriptionSchema = subscriptionItem.extend({
  /** Only for `wallet.low`: when the balance was found below the threshold. Removed once it no longer is. */
  low_since: z.iso.datetime().optional(),
  /** The event of `low_since`, until the delivery queue has it. */
  unsent: accountEvent.optional(),
  /** Only for `limit.near`: the limits of recent days and months whose events the delivery queue has got. */
  sent: z.array(z.string()).optional(),
});
export type Subscription = z.infer<typeof subscriptionSchema>;
