import * as z from "zod";

/** INTERFACE "Events": the one event that there is. */
export const TRANSACTION_UPDATED = "transaction.updated";

/** What the upstream posts. `data` is looked at only when the event is one that we know. */
export const upstreamEvent = z.object({
  event: z.string("Must be a string"),
  data: z.record(z.string(), z.unknown(), "Must be an object").optional(),
});

/** `data` of `transaction.updated`. `reference` is the upstream's own, and `amount` is what it charged. */
export const upstreamEventData = z.object({
  reference: z.string("Must be a string").min(1, "Must not be empty").max(100, "Must have at most 100 characters"),
  status: z.enum(["success", "failed"], "Must be success or failed"),
  amount: z.number("Must be a number").min(0, "Must not be negative"),
  type: z.string("Must be a string").max(40, "Must have at most 40 characters"),
  phone_number: z.string("Must be a string").max(20, "Must have at most 20 characters").nullish(),
});

export const upstreamEventReceipt = z.object({ outcome: z.enum(["accepted", "ignored"]) });
