import type { Call } from "../call/call.ts";
import { invalid } from "../call/invalid.ts";
import { ServiceError } from "../contract/errors.ts";
import { headers } from "../contract/headers.ts";
import { nairaFromKobo } from "../contract/money.ts";
import type { TransactionQuery } from "../contract/transaction.ts";
import { findTransaction } from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { decodeCursor, encodeCursor, listTransactions, timeRange } from "../ledger/list-transactions.ts";
import { referenceOf, transactionToView } from "../ledger/transaction.ts";
import { readWallet } from "../ledger/wallet.ts";
import type { KeyedHashes } from "../platform/keyed-hashes.ts";

/** GET /wallet. */
export const getWallet =
  (ledger: Ledger) =>
  async ({ caller }: Pick<Call<unknown>, "caller">) => {
    const { balance_kobo, low_balance_threshold_kobo, updated_at } = await readWallet(ledger, caller.accountId);
    return {
      message: "Wallet",
      data: {
        wallet: {
          currency: "NGN" as const,
          balance: nairaFromKobo(balance_kobo),
          low_balance_threshold:
            low_balance_threshold_kobo === undefined ? null : nairaFromKobo(low_balance_threshold_kobo),
          updated_at,
        },
      },
    };
  };

/** GET /transactions/{reference}. */
export const getTransaction =
  (ledger: Ledger, keyedHashes: () => Promise<KeyedHashes>) =>
  async ({ input, caller }: Pick<Call<{ reference: string }>, "input" | "caller">) => {
    const transaction = await findTransaction(ledger, await keyedHashes(), caller, input.reference);
    if (transaction === undefined)
      throw new ServiceError("not_found", { message: "No transaction has this reference" });
    return {
      message: "Transaction",
      data: { transaction: transactionToView(transaction) },
      headers: { [headers.transactionReference]: referenceOf(transaction) },
    };
  };

/** GET /transactions. */
export const listCallerTransactions =
  (ledger: Ledger) =>
  async ({ input, caller }: Pick<Call<TransactionQuery>, "input" | "caller">) => {
    const range = timeRange(input);
    if (range === undefined) throw invalid({ to: ["Must not be before from"] });
    const start = input.cursor === undefined ? undefined : decodeCursor(input.cursor);
    const isForeign = start === undefined || start.created_at < range.from || start.created_at > range.to;
    if (input.cursor !== undefined && isForeign) throw invalid({ cursor: ["Is no cursor of this list"] });
    const { transactions, next } = await listTransactions(ledger, caller, input, range, start);
    return {
      message: "Transactions",
      data: { transactions: transactions.map(transactionToView), next_cursor: next ? encodeCursor(next) : null },
    };
  };
