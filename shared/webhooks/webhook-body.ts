import * as z from "#zod";
import type { FinalStatus } from "../contract/final-status.ts";
import type { limitNear, walletLow } from "../contract/openapi/openapi-webhooks.ts";
import { nairaFromKobo } from "../contract/values/money.ts";
import { type AccountEventName, TRANSACTION_UPDATED } from "../contract/webhook-events.ts";
import { referenceOf, type Transaction } from "../ledger/transaction.ts";

/**
 * The body of `transaction.updated` (docs/interface.md 15.2). Its fields do not change before the phone number is
 * masked, so that every copy until then has the same bytes. Identity checks have an empty network and phone number
 * (docs/interface.md 15.D1).
 */
export const webhookBody = (transaction: Transaction, status: FinalStatus): string =>
  JSON.stringify({
    event: TRANSACTION_UPDATED,
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

/** The body of `wallet.low` (docs/interface.md 15.7). */
export const walletLowBody = (data: z.infer<typeof walletLow>["data"]): string =>
  JSON.stringify({ event: "wallet.low", data });

/** The body of `limit.near` (docs/interface.md 15.9). */
export const limitNearBody = (data: z.infer<typeof limitNear>["data"]): string =>
  JSON.stringify({ event: "limit.near", data });

/** The body of `catalog.updated` (docs/interface.md 15.8), from the JSON text of its data. */
export const catalogUpdatedBody = (data: string): string => `{"event":"catalog.updated","data":${data}}`;

/** The body of `webhook.test`, which `admin webhook test` sends. It is about no transaction. */
export const testEventBody = (accountId: string, createdAt: string): string =>
  JSON.stringify({ event: "webhook.test", data: { account_id: accountId, created_at: createdAt } });

/**
 * Whether a body is one of this event, as these functions make it: no receiver reads another event in it, whatever its
 * parser does with members that are repeated, or written in another letter case.
 */
export const isBodyOf = (event: AccountEventName, body: string): boolean => {
  const parsed = z.strictObject({ event: z.literal(event), data: z.looseObject({}) }).safeParse(JSON.parse(body));
  return parsed.success && JSON.stringify(parsed.data) === body;
};
