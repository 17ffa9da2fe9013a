import { nairaFromKobo } from "../contract/money.ts";
import { readTransaction } from "../ledger/find-transactions.ts";
import { referenceOf, type Transaction } from "../ledger/transaction.ts";
import type { ActionContext } from "./action-context.ts";

/** The transaction after an operator resolved it. */
export const resolvedView = async ({ ledger }: ActionContext, before: Transaction) => {
  const transaction = (await readTransaction(ledger, before.pk)) ?? before;
  const { account_id, status, mode } = transaction;
  const amount = nairaFromKobo(transaction.amount_kobo);
  return {
    reference: referenceOf(transaction),
    account_id,
    status,
    amount,
    refunded: status === "failed" && mode === "live" ? amount : 0,
  };
};
