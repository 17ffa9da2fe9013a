import type { DailyQuota } from "../contract/permission.ts";
import { backoff } from "../platform/backoff.ts";
import { abortAfter, type Deadline, debitBudgetMs, debitRetryMs } from "../platform/deadline.ts";
import { log } from "../platform/log.ts";
import { dayInLagos } from "../platform/time.ts";
import { type DuplicateWindow, duplicateGuardPut, earlierPurchase, refusingGuard } from "./duplicate-guard.ts";
import type { Ledger, Writes } from "./ledger.ts";
import { transact, type WriteFailure } from "./transact.ts";
import { isIdentityCheck, type Transaction } from "./transaction.ts";
import { transactionPut, transitions } from "./transaction-state.ts";
import {
  type Counted,
  type Counting,
  countOrder,
  countsOtherwise,
  keyUsageUpdate,
  type LimitGuard,
  type ReachedLimit,
  type SeenUsage,
  seenUsage,
} from "./usage.ts";
import { voidDebit } from "./void-debit.ts";
import { type DebitOptions, ordersOnDay, walletDebit } from "./wallet.ts";
import { bookingTime, isSealedAt } from "./wallet-seal.ts";

/** An item that is written with a transaction, such as the record of a consent. */
export type RecordItem = { readonly pk: string; readonly created_at: string } & Readonly<Record<string, unknown>>;

/** What a debit requires beside the balance. */
export type DebitGuards = {
  /** The daily quota of the account that the order counts for. */
  readonly quota?: DailyQuota | undefined;
  readonly duplicates?: DuplicateWindow | undefined;
  readonly limits?: LimitGuard | undefined;
};

export type OpenResult =
  /** The transaction is written and its amount debited: the order can be sent upstream. `counted`: where it was counted. */
  | { readonly kind: "opened"; readonly counted?: Counted }
  /** A transaction with this reference exists. Nothing was written. */
  | { readonly kind: "exists"; readonly transaction: Transaction }
  | { readonly kind: "insufficient_balance" }
  /** The account was restricted after the request was admitted. Nothing was written. */
  | { readonly kind: "restricted" }
  /** The account has placed as many orders of this kind today as it may. Nothing was written. */
  | { readonly kind: "quota_used" }
  /** The order would pass a limit of its account or key. Nothing was written. */
  | { readonly kind: "limit_reached"; readonly reached: ReachedLimit }
  /** A purchase like this one was placed shortly before, and may be delivered. Nothing was written. */
  | { readonly kind: "possible_duplicate"; readonly earlier: Pick<Transaction, "pk" | "caller_reference"> }
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
 * The retries of a write are the same request. If two attempts got no response, the write that voids the debit decides:
 * it fails where the debit was made, and then the write token shows whether the item under this key is this request's
 * own. A debit that lands in a sealed time is refused, and dated anew.
 */
export const openTransaction = async (
  ledger: Ledger,
  transaction: Transaction,
  records: readonly RecordItem[],
  deadline: Deadline,
  guards: DebitGuards = {},
): Promise<OpenResult> => {
  const opened = await openGuarded(ledger, transaction, records, deadline, guards);
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
  guards: DebitGuards = {},
): Promise<OpenResult | { readonly kind: "would_overtake" }> => {
  const opened = await openGuarded(ledger, transaction, records, deadline, { ...guards, unlessQueued: true });
  if (opened.kind !== "refused") return opened;
  const { refusal, wallet } = opened;
  return refusal.kind !== "restricted" && wallet?.open !== undefined ? { kind: "would_overtake" } : refusal;
};

/** A condition beside the transaction's failed. */
type Refused = { readonly kind: "refused" } & Pick<ConditionFailed, "wallet" | "items">;
type ConditionFailed = Extract<WriteFailure, { readonly kind: "condition_failed" }>;

type Refusal = OpenResult & {
  readonly kind: "restricted" | "quota_used" | "limit_reached" | "insufficient_balance" | "possible_duplicate";
};

/**
 * Opens a transaction as its guards allow it, and counts its order, if that has a quota or a limit. The debit requires
 * that the wallet counts today's orders; the first one of a day learns from its refusal that it begins the day. The
 * wallet's day may be ahead of this clock around midnight, and then counts.
 */
const openGuarded = async (
  ledger: Ledger,
  ordered: Transaction,
  records: readonly RecordItem[],
  deadline: Deadline,
  { quota, limits, unlessQueued = false, ...guards }: DebitGuards & { readonly unlessQueued?: boolean },
): Promise<OpenResult | (Refused & { readonly refusal: Refusal })> => {
  let transaction = ordered;
  let { duplicates } = guards;
  let dated = records;
  let day = dayInLagos(ledger.clock());
  let beginsDay = false;
  let seen: SeenUsage = {};
  for (;;) {
    const counting = limits && countOrder(limits, transaction, ledger.clock(), seen);
    const options = {
      unlessQueued,
      isCheck: isIdentityCheck(transaction),
      ...(quota && { quota: { ...quota, day, beginsDay } }),
      usage: counting?.parts.account,
    };
    const written = { ...transaction, ...(counting && { counted: counting.counted }) };
    const writes = [
      ...openingWrites(ledger, written, dated, options),
      ...keyUsageWrites(ledger, transaction, counting),
      ...(duplicates ? [duplicateGuardPut(duplicates, transaction, ledger.clock())] : []),
    ];
    const opened = await openWith(ledger, written, writes, deadline);
    if (opened.kind === "opened") logNear(transaction, counting);
    if (opened.kind !== "refused") return opened;
    if (isSealedAt(opened.wallet, transaction.created_at)) {
      const at = bookingTime(ledger, opened.wallet.sealed_to);
      transaction = datedAt(transaction, at);
      dated = records.map((record) => ({ ...record, created_at: at }));
      continue;
    }
    if (opened.wallet?.restricted) return { ...opened, refusal: { kind: "restricted" } };
    const guard = refusingGuard(duplicates, opened.items);
    if (duplicates !== undefined && guard !== undefined) {
      const earlier = await earlierPurchase(ledger, guard);
      if (earlier !== undefined) return { ...opened, refusal: { kind: "possible_duplicate", earlier } };
      if (debitRetryMs(deadline) <= 0) return { kind: "busy" };
      duplicates = { ...duplicates, replaces: guard.transaction_pk };
      continue;
    }
    seen = { ...seen, ...seenUsage(opened) };
    const recounting = limits && countOrder(limits, transaction, ledger.clock(), seen);
    if (recounting?.reached !== undefined) {
      return { ...opened, refusal: { kind: "limit_reached", reached: recounting.reached } };
    }
    if (countsOtherwise(counting, recounting)) {
      if (debitRetryMs(deadline) <= 0) return { kind: "busy" };
      continue;
    }
    const countedDay = opened.wallet?.quota_day ?? 0;
    const isDayRight = beginsDay ? countedDay < day : countedDay === day;
    if (quota === undefined || isDayRight) return { ...opened, refusal: refusalBy(opened, quota, day) };
    beginsDay = countedDay < day;
    day = Math.max(day, countedDay);
  }
};

/** The count of an order for its key. */
const keyUsageWrites = (
  ledger: Ledger,
  { key_id: keyId, account_id: accountId }: Transaction,
  counting: Counting | undefined,
): Writes =>
  counting?.parts.key === undefined ? [] : [keyUsageUpdate(ledger, { keyId, accountId }, counting.parts.key)];

/** The write has marked these limits, so no other order logs them in this period. */
const logNear = ({ account_id, key_id }: Transaction, counting: Counting | undefined): void => {
  for (const { by, limit, max } of counting?.near ?? []) {
    log.warn("limit.near", { account: account_id, ...(by === "key" && { key: key_id }), limit, max });
  }
};

/** Only a live transaction, which is listed, has a wallet that may be sealed. */
const datedAt = (transaction: Transaction, at: string): Transaction => ({
  ...transaction,
  listed_at: at,
  created_at: at,
  updated_at: at,
});

const refusalBy = ({ wallet }: Refused, quota: DailyQuota | undefined, day: number): Refusal => {
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
  if (result.kind === "written") return openedAs(transaction);
  if (result.transaction !== undefined) return resultFromStored(result.transaction, transaction);
  // A failed condition on the wallet, or a conflict, is inconclusive while an earlier copy of the write may arrive.
  if (!result.isCertain) return resolveIndeterminate(ledger, transaction, deadline);
  return result.kind === "condition_failed" ? { ...result, kind: "refused" } : { kind: "busy" };
};

/** The transaction is item 0: `classifyWriteError` depends on it. */
const openingWrites = (
  ledger: Ledger,
  transaction: Transaction,
  records: readonly RecordItem[],
  options: DebitOptions,
): Writes => [
  transactionPut(ledger, transitions.debit, transaction),
  ...(transaction.mode === "live" ? [walletDebit(ledger, transaction.account_id, debitOf(transaction), options)] : []),
  ...records.map((Item) => ({ Put: { TableName: ledger.table, Item } })),
];

/** The transaction is the debit's line, so the wallet's condition has its time. */
const debitOf = ({ amount_kobo, created_at }: Transaction) => ({ amount: amount_kobo, bookedAt: created_at });

const resultFromStored = (stored: Transaction, own: Transaction): OpenResult => {
  if (stored.write_token !== own.write_token) return { kind: "exists", transaction: stored };
  return stored.debit === "void" ? { kind: "void", transaction: stored } : openedAs(stored);
};

const openedAs = ({ counted }: Transaction): OpenResult => ({ kind: "opened", ...(counted && { counted }) });

const resolveIndeterminate = async (ledger: Ledger, own: Transaction, deadline: Deadline): Promise<OpenResult> => {
  const result = await voidDebit(ledger, own, deadline);
  return result.kind === "exists" ? resultFromStored(result.transaction, own) : result;
};
