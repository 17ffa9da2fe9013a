import * as z from "zod";
import type { Change } from "../call/change.ts";
import { isTransactionPk } from "../ledger/schema.ts";
import type { DeliveryQueue } from "./delivery-queue.ts";
import { finalStatus, TRANSACTION_UPDATED } from "./webhook-event.ts";

/** The webhook of a test purchase for this number is sent twice. Source: docs/interface.md 3.4. */
const SENT_TWICE_PHONE_NUMBER = "08000000008";
/** Names its second copy. */
export const SANDBOX_REPEAT = "sandbox";

const anyItem = z.object({ pk: z.string(), status: z.unknown(), debit: z.unknown().optional() });

/**
 * Only what the queue needs, and lenient: an unreadable change would block the stream until its retention ends. Other
 * defects of the item surface when the message is delivered, where they block nothing and end as a dead letter.
 */
const settledItem = z.object({
  account_id: z.string().catch("unknown"),
  mode: z.string().optional().catch(undefined),
  phone_number: z.string().optional().catch(undefined),
});

/** Enqueues a webhook when a transaction settles, or when its debit is voided; ignores all other changes. */
export const enqueueWebhook =
  (queue: DeliveryQueue) =>
  async ({ before, after }: Change): Promise<string> => {
    const [old, current] = [anyItem.safeParse(before).data, anyItem.safeParse(after).data];
    const status = finalStatus.safeParse(current?.status).data;
    const hasEnded = old?.status === "processing" || (before === undefined && current?.debit === "void");
    if (!hasEnded || status === undefined || current === undefined || !isTransactionPk(current.pk)) return "ignored";

    const { account_id, mode, phone_number } = settledItem.parse(after);
    const message = { event: TRANSACTION_UPDATED, transaction_pk: current.pk, status } as const;
    await queue.send(message, account_id);
    if (mode === "test" && phone_number === SENT_TWICE_PHONE_NUMBER) {
      await queue.send({ ...message, repeat: SANDBOX_REPEAT }, account_id);
    }
    return "enqueued";
  };
