import type { DailyQuota } from "../contract/permission.ts";
import { backoff } from "../platform/backoff.ts";
import { abortAfter, type Deadline, debitBudgetMs, debitRetryMs } from "../platform/deadline.ts";
import { dayInLagos } from "../platform/time.ts";
import type { Ledger } from "./ledger.ts";
import { transact, type Writes } from "./transact.ts";
import { isIdentityCheck, type Transaction } from "./transaction.ts";
import { transactionPut, transitions } from "./transaction-state.ts";
import { voidDebit } from "./void-debit.ts";
import { type DebitOptions, ordersOnDay, type Wallet, walletDebit } from "./wallet.ts";

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
  /** The account has placed as many orders of this kind today as it may. Nothing was written. */
  | { readonly kind: "quota_used" }
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
  quota?: DailyQuota,
): Promise<OpenResult> => {
  const opened = await openCounted(ledger, transaction, records, deadline, { quota });
  return opened.kind === "refused" ? opened.refusal : opened;
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
  quota?: DailyQuota,
): Promise<OpenResult | { readonly kind: "would_overtake" }> => {
  const opened = await openCounted(ledger, transaction, records, deadline, { quota, unlessQueued: true });
  if (opened.kind !== "refused") return opened;
  const { refusal, wallet } = opened;
  return refusal.kind !== "restricted" && wallet?.open !== undefined ? { kind: "would_overtake" } : refusal;
};

/** The wallet's condition failed. */
type Refused = { readonly kind: "refused"; readonly wallet: Wallet | undefined };

type Refusal = OpenResult & { readonly kind: "restricted" | "quota_used" | "insufficient_balance" };

/**
 * Opens a transaction and counts its order, if that has a quota. The debit requires that the wallet counts today's
 * orders; the first one of a day learns from its refusal that it begins the day. The wallet's day may be ahead of this
 * clock around midnight, and then counts.
 */
const openCounted = async (
  ledger: Ledger,
  transaction: Transaction,
  records: readonly RecordItem[],
  deadline: Deadline,
  { quota, unlessQueued = false }: { readonly quota: DailyQuota | undefined; readonly unlessQueued?: boolean },
): Promise<OpenResult | (Refused & { readonly refusal: Refusal })> => {
  let day = dayInLagos(ledger.clock());
  let beginsDay = false;
  for (;;) {
    const options = {
      unlessQueued,
      isCheck: isIdentityCheck(transaction),
      ...(quota && { quota: { ...quota, day, beginsDay } }),
    };
    const writes = openingWrites(ledger, transaction, records, options);
    const opened = await openWith(ledger, transaction, writes, deadline);
    if (opened.kind !== "refused") return opened;
    const countedDay = opened.wallet?.quota_day ?? 0;
    const isDayRight = beginsDay ? countedDay < day : countedDay === day;
    if (quota === undefined || isDayRight) return { ...opened, refusal: refusalBy(opened, quota, day) };
    beginsDay = countedDay < day;
    day = Math.max(day, countedDay);
  }
};

const refusalBy = ({ wallet }: Refused, quota: DailyQuota | undefined, day: number): Refusal => {
  if (wallet?.restricted) return { kind: "restricted" };
  const isUsed = quota && wallet && ordersOnDay(wallet, quota.entitlement, day) >= quota.perDay;
  return { kind: isUsed ? "quota_used" : "insufficient_balance" };
};

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
  options: DebitOptions,
): Writes => [
  transactionPut(ledger, transitions.debit, transaction),
  ...(transaction.mode === "live"
    ? [walletDebit(ledger, transaction.account_id, transaction.amount_kobo, options)]
    : []),
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
