import * as z from "#zod";
import { finalStatus } from "../contract/final-status.ts";
import { accountEventName, TRANSACTION_UPDATED } from "../contract/webhook-events.ts";
import { webhookId } from "./signature.ts";

/**
 * A transaction became final. The body is made from the ledger at each attempt, so queue and record have no phone
 * number.
 */
export const transactionEvent = z.object({
  event: z.literal(TRANSACTION_UPDATED),
  /** The transaction's key. */
  transaction_pk: z.string(),
  status: finalStatus,
});
export type TransactionEvent = z.infer<typeof transactionEvent>;

/**
 * Something happened to an account, or to all of them. Nothing stores what it was like at that time, so the event holds
 * the bytes that every attempt posts. They are no personal data.
 */
export const accountEvent = z.object({
  event: accountEventName,
  account_id: z.string(),
  /** Which of the account's events of this name: a time, or a limit and its period. */
  occurrence: z.string(),
  body: z.string(),
});
export type AccountEvent = z.infer<typeof accountEvent>;

/** Made from what the event says, so that who may send to the queue cannot use the id of another one. */
export const accountEventId = ({ event, account_id, occurrence }: Omit<AccountEvent, "body">): string =>
  webhookId(`${event}.${account_id}`, occurrence);
