import type { Call } from "../call/call.ts";
import { invalid } from "../call/invalid.ts";
import { ServiceError } from "../contract/errors.ts";
import { headers } from "../contract/headers.ts";
import { NO_CURSOR, type TransactionQuery } from "../contract/transaction-query.ts";
import { koboFromNaira, nairaFromKobo } from "../contract/values/money.ts";
import { findTransaction } from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { listTransactions, timeRange } from "../ledger/list-transactions.ts";
import { decodeIndexKey, encodeIndexKey } from "../ledger/query-index.ts";
import { isTransactionPk } from "../ledger/schema.ts";
import { referenceOf, transactionToView } from "../ledger/transaction.ts";
import { readWallet, type Wallet } from "../ledger/wallet.ts";
import type { KeyedHashes } from "../platform/keyed-hashes.ts";
import { orNull } from "../platform/or-null.ts";

/** What a test key sees: test orders change no wallet, and a test key shows nothing of the live one. */
const TEST_WALLET: Pick<Wallet, "balance_kobo" | "low_balance_threshold_kobo" | "updated_at"> = {
  balance_kobo: koboFromNaira(100_000),
  updated_at: "2026-01-01T00:00:00.000Z",
};

/** GET /wallet. */
export const getWallet =
  (ledger: Ledger) =>
  async ({ caller: { accountId, mode } }: Pick<Call<unknown>, "caller">) => {
    const wallet = mode === "test" ? TEST_WALLET : await readWallet(ledger, accountId);
    const { balance_kobo, low_balance_threshold_kobo, updated_at } = wallet;
    return {
      message: "Wallet",
      data: {
        wallet: {
          currency: "NGN" as const,
          balance: nairaFromKobo(balance_kobo),
          low_balance_threshold: orNull(low_balance_threshold_kobo, nairaFromKobo),
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
    const start = input.cursor === undefined ? undefined : decodeIndexKey(input.cursor, isTransactionPk);
    const isForeign = start === undefined || start.created_at < range.from || start.created_at > range.to;
    if (input.cursor !== undefined && isForeign) throw invalid({ cursor: [NO_CURSOR] });
    const { transactions, next } = await listTransactions(ledger, caller, input, range, start);
    return {
      message: "Transactions",
      data: { transactions: transactions.map(transactionToView), next_cursor: next ? encodeIndexKey(next) : null },
    };
  };
