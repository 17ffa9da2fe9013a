import { referenceOf, type Transaction, transactionToView } from "../../../shared/ledger/transaction.ts";
import { duration, naira, table } from "./print.ts";

export const transactionJson = (transaction: Transaction) => ({
  account_id: transaction.account_id,
  mode: transaction.mode,
  ...transactionToView(transaction),
  upstream_reference: transaction.upstream_reference ?? null,
});

export const transactionsTable = (transactions: readonly Transaction[], nowMs: number): string =>
  table(
    ["reference", "account", "type", "status", "amount", "phone number", "upstream reference", "age"],
    transactions.map((transaction) => [
      referenceOf(transaction),
      transaction.account_id,
      transaction.type,
      transaction.status,
      naira(transaction.amount_kobo),
      transaction.phone_number,
      transaction.upstream_reference,
      duration(nowMs - Date.parse(transaction.created_at)),
    ]),
  );
