import { referenceOf, type Transaction } from "../ledger/transaction.ts";
import { nairaFromKobo } from "../platform/money.ts";
import type { FinalStatus } from "./delivery-queue.ts";

/**
 * The body of an event (INTERFACE "Events"), made of nothing that changes before the phone number is masked: until then each copy
 * has the same bytes. An identity check has no network and no phone number: both are empty, because the interface types them as
 * strings.
 */
export const webhookBody = (transaction: Transaction, status: FinalStatus): string =>
  JSON.stringify({
    event: "transaction.updated",
    data: {
      reference: referenceOf(transaction),
      status,
      amount: nairaFromKobo(transaction.amount_kobo),
      type: transaction.type,
      network: transaction.network ?? "",
      phone_number: transaction.phone_number ?? "",
      created_at: transaction.created_at,
    },
  });

/** The body of the event by which an operator tests an endpoint: `admin webhook test`. It is about no transaction. */
export const testEventBody = (accountId: string, createdAt: string): string =>
  JSON.stringify({ event: "webhook.test", data: { account_id: accountId, created_at: createdAt } });
