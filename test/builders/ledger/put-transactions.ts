import type { Ledger } from "../../../shared/ledger/ledger.ts";
import { transactionList, transactionPk } from "../../../shared/ledger/schema.ts";
import type { Transaction } from "../../../shared/ledger/transaction.ts";
import type { WithSdk } from "../../../shared/platform/aws/sdk.ts";
import { putItems } from "../dynamodb/put-items.ts";
import { aTransaction } from "./transaction.ts";

/** Puts delivered orders of 500 NGN into the ledger, without debits of the wallet; the times are the test's. */
export const putTransactions = async (
  { db, table }: Pick<Ledger & WithSdk, "db" | "table">,
  accountId: string,
  count: number,
  timeOf: (index: number) => string,
): Promise<readonly Transaction[]> => {
  const transactions = Array.from({ length: count }, (_, index) =>
    aTransaction({
      pk: transactionPk(`${accountId.slice(-8).toUpperCase()}${String(index).padStart(18, "0")}`),
      list_key: transactionList(accountId, "live"),
      account_id: accountId,
      status: "success",
      created_at: timeOf(index),
      updated_at: timeOf(index),
    }),
  ).map(({ open: _open, listed_at: _listedAt, ...closed }) => closed);
  await putItems(db, table, transactions);
  return transactions;
};
