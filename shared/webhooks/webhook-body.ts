import { referenceOf, type Transaction } from "../ledger/transaction.ts";
import { nairaFromKobo } from "../platform/money.ts";
import type { FinalStatus } from "./delivery-queue.ts";

/**
 * The body of `transaction.updated` (docs/interface.md 15.2). Its fields do not change before the phone number is
 * masked, so that every copy until then has the same bytes. Identity checks have an empty network and phone number
 * (docs/interface.md 15.D1).
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

/** The body of `webhook.test`, which `admin webhook test` sends. It is about no transaction. */
export const testEventBody = (accountId: string, createdAt: string): string =>
  JSON.stringify({ event: "webhook.test", data: { account_id: accountId, created_at: createdAt } });
