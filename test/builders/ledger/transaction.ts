import { randomBytes, randomUUID } from "node:crypto";
import { koboSchema } from "../../../shared/contract/values/money.ts";
import { openList, transactionList, transactionPk } from "../../../shared/ledger/schema.ts";
import type { Transaction } from "../../../shared/ledger/transaction.ts";
import { base32 } from "../../../shared/platform/base32.ts";

/** The key of an order whose id has the service's form, which masks leave whole. Its second character names its list. */
export const newTransactionPk = (start = ""): string =>
  transactionPk(`${start}${base32(randomBytes(16)).slice(start.length)}`);

/** A live order that is under way. A test states only the fields it is about. */
export const aTransaction = ({
  pk = "transaction#0123456789ABCDEFGHJKMNPQRS",
  created_at = "2026-11-21T09:30:00.000Z",
  ...changes
}: Partial<Transaction> = {}): Transaction => ({
  pk,
  list_key: "acc_1#live",
  account_id: "acc_1",
  key_id: "key_1",
  mode: "live",
  type: "data",
  status: "processing",
  write_token: "9b2f2a52-9f0c-4b0e-8b3a-3f0a4f1f7f10",
  fingerprint: "fingerprint",
  caller_reference: "order-1",
  amount_kobo: koboSchema.parse(500_00),
  description: "MTN 1GB data for 08031234567",
  network: "MTN",
  phone_number: "08031234567",
  open: openList({ pk }),
  listed_at: created_at,
  created_at,
  updated_at: "2026-11-21T09:30:00.000Z",
  ...changes,
});

/** One of this account's that no other test has. */
export const newTransaction = (accountId: string, changes: Partial<Transaction> = {}): Transaction =>
  aTransaction({
    pk: newTransactionPk(),
    list_key: transactionList(accountId, changes.mode ?? "live"),
    account_id: accountId,
    write_token: randomUUID(),
    ...changes,
  });
