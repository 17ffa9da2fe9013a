import { nairaFromKobo } from "../platform/money.ts";
import { referenceOf, type TransactionRow } from "../wallet/transaction.ts";
import type { AnnouncedStatus } from "./delivery-queue.ts";

/**
 * The body of an event (INTERFACE "Events"), made of nothing that changes before the phone number is masked: until then each copy
 * has the same bytes. What an identity check does not have is null.
 */
export const eventBody = (row: TransactionRow, status: AnnouncedStatus): string =>
  JSON.stringify({
    event: "transaction.updated",
    data: {
      reference: referenceOf(row),
      status,
      amount: nairaFromKobo(row.amount_kobo),
      type: row.type,
      network: row.network ?? null,
      phone_number: row.phone_number ?? null,
      created_at: row.created_at,
    },
  });
