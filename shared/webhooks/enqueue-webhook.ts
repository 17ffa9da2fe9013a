import * as z from "#zod";
import type { Change } from "../call/change.ts";
import { finalStatus } from "../contract/final-status.ts";
import { modeSchema, transactionType } from "../contract/transaction.ts";
import { TRANSACTION_UPDATED } from "../contract/webhook-events.ts";
import { getItem } from "../ledger/get-item.ts";
import type { Table } from "../ledger/ledger.ts";
import { accountPk, isTransactionPk } from "../ledger/schema.ts";
import { referenceOf } from "../ledger/transaction.ts";
import { allEnded } from "../platform/all-ended.ts";
import type { LogFields } from "../platform/log.ts";
import { type DeliveryQueue, UNKNOWN_ENDPOINT } from "./delivery-queue.ts";

/** The webhook of a test purchase for this number is sent twice. Source: docs/interface.md 3.4. */
const SENT_TWICE_PHONE_NUMBER = "08000000008";
/** Names its second copy. */
export const SANDBOX_REPEAT = "sandbox";

const anyItem = z.object({ pk: z.string(), status: z.unknown(), debit: z.optional(z.unknown()) });

/**
 * Only what the queue needs, and lenient: an unreadable change would block the stream until its retention ends. Other
 * defects of the item surface when the message is delivered, where they block nothing and end as a dead letter.
 */
const settledItem = z.object({
  account_id: z.catch(z.string(), "unknown"),
  mode: z.catch(z.optional(modeSchema), undefined),
  phone_number: z.catch(z.optional(z.string()), undefined),
  type: z.catch(z.optional(transactionType), undefined),
  network: z.catch(z.optional(z.string()), undefined),
  failure: z.catch(z.optional(z.object({ code: z.string() })), undefined),
});

const UNREADABLE = { id: UNKNOWN_ENDPOINT, events: [TRANSACTION_UPDATED] };
const recipients = z.catch(
  z.object({ endpoints: z.array(z.object({ id: z.string(), events: z.array(z.string()) })) }),
  { endpoints: [UNREADABLE] },
);

/**
 * Enqueues a webhook for each endpoint that gets it when a transaction settles, or when its debit is voided; ignores all
 * other changes. A change that is read again enqueues copies for all of them, which find the deliveries on record.
 */
export const enqueueWebhook = ({
  ledger,
  queue,
}: {
  readonly ledger: Table;
  readonly queue: DeliveryQueue;
}): ((change: Change) => Promise<LogFields<"change.handled">>) => {
  const readEndpoints = endpointsReader(ledger);
  return async ({ before, after }) => {
    const [old, current] = [anyItem.safeParse(before).data, anyItem.safeParse(after).data];
    const status = finalStatus.safeParse(current?.status).data;
    const hasEnded = old?.status === "processing" || (before === undefined && current?.debit === "void");
    if (!hasEnded || status === undefined || current === undefined || !isTransactionPk(current.pk)) {
      return { outcome: "ignored" };
    }

    const { account_id, mode, phone_number, type, network, failure } = settledItem.parse(after);
    const event = { event: TRANSACTION_UPDATED, transaction_pk: current.pk, status } as const;
    const isSentTwice = mode === "test" && phone_number === SENT_TWICE_PHONE_NUMBER;
    const messages = (await readEndpoints(account_id))
      .filter(({ events }) => events.includes(TRANSACTION_UPDATED))
      .flatMap(({ id: endpoint }) => [
        { ...event, endpoint },
        ...(isSentTwice ? [{ ...event, endpoint, repeat: SANDBOX_REPEAT }] : []),
      ]);
    await allEnded(messages.map((message) => queue.send(message, account_id)));
    return {
      outcome: messages.length === 0 ? "ignored" : "enqueued",
      ...(type && mode && { reference: referenceOf({ pk: current.pk, type, mode }) }),
      status,
      network,
      code: failure?.code,
    };
  };
};

/** Reads an account once for all changes of a batch, which are handled at the same time. */
const endpointsReader = (ledger: Table) => {
  const reading = new Map<string, Promise<z.output<typeof recipients> | undefined>>();
  return async (accountId: string): Promise<z.output<typeof recipients>["endpoints"]> => {
    const read =
      reading.get(accountId) ??
      getItem(ledger, accountPk(accountId), recipients).finally(() => reading.delete(accountId));
    reading.set(accountId, read);
    return (await read)?.endpoints ?? [UNREADABLE];
  };
};
