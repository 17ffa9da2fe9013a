import { noInput, type Routes } from "../route.ts";
import { transactionLookup, transactionPage, transactionPath, transactionQuery } from "../transaction.ts";
import { walletResult } from "../wallet.ts";
import { exampleTransaction, exampleView } from "./examples.ts";

/** The routes of the function `read-account`. */
export const readAccountRoutes = {
  getWallet: {
    method: "GET",
    path: "/v1/wallet",
    function: "read-account",
    group: "catalog",
    permissions: ["read"],
    input: noInput,
    data: walletResult,
    summary: "Read the prepaid wallet",
    clientMethod: "wallet.get",
    errors: [],
    example: {
      input: {},
      message: "Wallet",
      data: {
        wallet: {
          currency: "NGN",
          balance: 99_500,
          low_balance_threshold: null,
          updated_at: "2026-11-21T09:30:01.200Z",
        },
      },
    },
  },
  getTransaction: {
    method: "GET",
    path: "/v1/transactions/{reference}",
    function: "read-account",
    group: "catalog",
    permissions: ["read"],
    input: transactionPath,
    data: transactionLookup,
    summary: "Look up a transaction by the service's reference or the caller's",
    clientMethod: "transactions.get",
    errors: ["not_found", "validation_failed"],
    example: {
      input: { reference: exampleTransaction.reference },
      message: "Transaction",
      data: { transaction: exampleView },
    },
  },
  listTransactions: {
    method: "GET",
    path: "/v1/transactions",
    function: "read-account",
    group: "catalog",
    permissions: ["read"],
    input: transactionQuery,
    data: transactionPage,
    summary: "List transactions, newest first",
    clientMethod: "transactions.list",
    errors: ["validation_failed"],
    example: {
      input: { status: "success" },
      message: "Transactions",
      data: { transactions: [exampleView], next_cursor: null },
    },
  },
} as const satisfies Routes;
