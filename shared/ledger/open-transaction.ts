import { backoff } from "../platform/backoff.ts";
import { abortAfter, type Deadline, debitBudgetMs, debitRetryMs } from "../platform/deadline.ts";
import type { Ledger } from "./ledger.ts";
import { transact, type Writes } from "./transact.ts";
import type { Transaction } from "./transaction.ts";
import { transactionPut, transitions } from "./transaction-state.ts";
import { voidDebit } from "./void-debit.ts";
import { type Wallet, walletDebit, walletDebitUnlessQueued } from "./wallet.ts";

/** An item that is written with a transaction, such as the record of a consent. */
export type RecordItem = { readonly pk: string } & Readonly<Record<string, string>>;

export type OpenResult =
  /** The transaction is written and its amount debited: the order can be sent upstream. */
  | { readonly kind: "opened" }
  /** A transaction with this reference exists. Nothing was written. */
  | { readonly kind: "exists"; readonly transaction: Transaction }
  | { readonly kind: "insufficient_balance" }
  /** The account was restricted after the request was admitted. Nothing was written. */
  | { readonly kind: "restricted" }
  /** Nothing was written: other writes held the wallet until the upstream's share of the time began. */
  | { readonly kind: "busy" }
  /** The debit got no answer, was not made, and can no longer be: the transaction is recorded as `failed`. */
  | { readonly kind: "void"; readonly transaction: Transaction }
  /**
   * The write may have arrived, or may yet arrive: the order must not be sent upstream. Another transaction may have
   * its reference.
   */
  | { readonly kind: "indeterminate" };

/**
 * Debits the wallet and puts the transaction and its records, in one write or not at all. A test transaction changes no
 * wallet.
 *
 * The write is built once, because its retries must be the same request. If two attempts got no response, the write
 * that voids the debit decides: it fails where the debit was made, and then the write token shows whether the item
 * under this key is this request's own.
 */
export const openTransaction = async (
  ledger: Ledger,
  transaction: Transaction,
  records: readonly RecordItem[],
  deadline: Deadline,
): Promise<OpenResult> => {
  const opened = await openWith(
    ledger,
    transaction,
    openingWrites(ledger, transaction, records, walletDebit),
    deadline,
  );
  return opened.kind === "refused" ? refusal(opened) : opened;
};

/**
 * `openTransaction` for an order that is sent at once: it is not opened while orders of its account wait, because it
 * would overtake them.
 */
export const openUnlessOvertaking = async (
  ledger: Ledger,
  transaction: Transaction,
  records: readonly RecordItem[],
  deadline: Deadline,
): Promise<OpenResult | { readonly kind: "would_overtake" }> => {
  const writes = openingWrites(ledger, transaction, records, walletDebitUnlessQueued);
  const opened = await openWith(ledger, transaction, writes, deadline);
  if (opened.kind !== "refused") return opened;
  const refused = refusal(opened);
  return refused.kind !== "restricted" && opened.wallet?.open !== undefined ? { kind: "would_overtake" } : refused;
};

/** The wallet's condition failed. */
type Refused = { readonly kind: "refused"; readonly wallet: Wallet | undefined };

const refusal = ({ wallet }: Refused): OpenResult & { readonly kind: "restricted" | "insufficient_balance" } => ({
  kind: wallet?.restricted ? "restricted" : "insufficient_balance",
});

const openWith = async (
  ledger: Ledger,
  transaction: Transaction,
  writes: Writes,
  deadline: Deadline,
): Promise<OpenResult | Refused> => {
  const result = await transact(ledger.db, writes, {
    nextAttempt: backoff(() => debitRetryMs(deadline)),
    unansweredMax: 1,
    abortSignal: abortAfter(debitBudgetMs(deadline)),
    about: { write_token: transaction.write_token },
  });
  if (result.kind === "written") return { kind: "opened" };
  if (result.kind === "condition_failed" && result.transaction !== undefined) {
    return resultFromStored(result.transaction, transaction);
  }
  // A failed condition on the wallet, or a conflict, is inconclusive while an earlier copy of the write may arrive.
  if (!result.isCertain) return resolveIndeterminate(ledger, transaction, deadline);
  return result.kind === "condition_failed" ? { kind: "refused", wallet: result.wallet } : { kind: "busy" };
};

/** The transaction is item 0: `classifyWriteError` depends on it. */
const openingWrites = (
  ledger: Ledger,
  transaction: Transaction,
  records: readonly RecordItem[],
  debit: typeof walletDebit | typeof walletDebitUnlessQueued,
): Writes => [
  transactionPut(ledger, transitions.debit, transaction),
  ...(transaction.mode === "live" ? [debit(ledger, transaction.account_id, transaction.amount_kobo)] : []),
  ...records.map((Item) => ({ Put: { TableName: ledger.table, Item } })),
];

const resultFromStored = (stored: Transaction, own: Transaction): OpenResult => {
  if (stored.write_token !== own.write_token) return { kind: "exists", transaction: stored };
  return stored.debit === "void" ? { kind: "void", transaction: stored } : { kind: "opened" };
};

const resolveIndeterminate = async (ledger: Ledger, own: Transaction, deadline: Deadline): Promise<OpenResult> => {
  const result = await voidDebit(ledger, own, deadline);
  return result.kind === "exists" ? resultFromStored(result.transaction, own) : result;
};
