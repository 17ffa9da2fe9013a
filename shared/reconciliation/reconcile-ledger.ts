import { PENDING_MS_MAX } from "../contract/actions/refund-clock.ts";
import { type Checkpoint, readCheckpoints } from "../ledger/checkpoint.ts";
import { readableOpenTransactions } from "../ledger/find-transactions.ts";
import { BATCH_KEYS_MAX } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { ALL_TIMES, type IndexedAccount, indexedAccounts } from "../ledger/query-index.ts";
import { type Settlement, settleTransaction } from "../ledger/settle-transaction.ts";
import { CHECK_OPEN_MS_MAX, isIdentityCheck, isStuck, sentAt, type Transaction } from "../ledger/transaction.ts";
import { type Deadline, deadlineIn, earlierDeadline } from "../platform/deadline.ts";
import { errorFields, type LogFields, log, putMetrics } from "../platform/log.ts";
import { isoTime, minuteOf } from "../platform/time.ts";
import {
  RECONCILE_WALLET_MS_MAX,
  RECONCILE_WALLETS_MS_MAX,
  REFUND_MS_MAX,
  RUN_RESERVE_MS,
} from "../platform/time-budgets.ts";
import { isTransient } from "../platform/transient-error.ts";
import { isMismatch, reconcileAndCheckpoint } from "./reconcile-wallet.ts";

const RECONCILE_EVERY_MS = 24 * 3_600_000;
/** A wallet that was not reconciled for this long raises an alarm. */
const OVERDUE_MS = 25 * 3_600_000;

/** Measures what is open, refunds abandoned checks, and reconciles the wallets that are due. */
export const reconcileLedger = async (
  ledger: Ledger,
  deadline: Deadline,
): Promise<Omit<LogFields<"reconcile-ledger.ran">, "phones_masked" | "float_measured" | "months_verified">> => {
  const nowMs = ledger.clock();
  const reconcileDeadline = earlierDeadline(deadlineIn(RECONCILE_WALLETS_MS_MAX, ledger.clock), {
    remainingMs: () => deadline.remainingMs() - RUN_RESERVE_MS,
  });
  const open = await readableOpenTransactions(ledger, { from: ALL_TIMES.from, to: isoTime(nowMs) });
  const ageMs = (transaction: Transaction): number => nowMs - Date.parse(sentAt(transaction));
  const oldestS = (transactions: readonly Transaction[]): number =>
    transactions.reduce((oldest, transaction) => Math.max(oldest, Math.floor(ageMs(transaction) / 1_000)), 0);

  const abandoned = open.filter(
    (transaction) => isIdentityCheck(transaction) && ageMs(transaction) > CHECK_OPEN_MS_MAX,
  );
  const pending = open.filter(({ created_at }) => Date.parse(created_at) < nowMs - PENDING_MS_MAX);
  // Published before the work, so even a run that is cut short publishes them.
  putMetrics(
    {
      OldestOpenSeconds: oldestS(open),
      StuckTransactions: open.filter((transaction) => isStuck(transaction, nowMs)).length,
      OldestUnrefundedSeconds: oldestS(abandoned),
      OpenOver24Hours: pending.length,
    },
    nowMs,
  );
  for (const [Kind, each] of Map.groupBy(pending, ({ type }) => type)) {
    putMetrics({ OpenOver24Hours: each.length }, nowMs, { Kind });
  }
  const refunded = await refundAll(ledger, abandoned, () => reconcileDeadline.remainingMs() > 0, deadline);
  const { reconciled, mismatches } = await reconcileDue(ledger, reconcileDeadline);
  if (reconciled > 0) putMetrics({ LedgerMismatches: mismatches }, nowMs);
  return { open: open.length, refunded, mismatches };
};

const ABANDONED: Settlement = { status: "failed", failure: { code: "provider_timeout" } };

/** Refunds checks one after the other while there is time; the next run refunds the others. */
const refundAll = async (
  ledger: Ledger,
  checks: readonly Transaction[],
  hasTime: () => boolean,
  deadline: Deadline,
): Promise<number> => {
  let refunded = 0;
  for (const check of checks) {
    if (!hasTime()) break;
    try {
      const checkDeadline = earlierDeadline(deadline, deadlineIn(REFUND_MS_MAX));
      const { kind } = await settleTransaction(ledger, check, ABANDONED, checkDeadline);
      if (kind === "applied") refunded += 1;
      if (kind === "indeterminate") log.error("identity_check.not_refunded", { transaction: check.pk });
    } catch (error) {
      log.error("identity_check.not_refunded", { transaction: check.pk, ...errorFields(error) });
    }
  }
  return refunded;
};

const reconcileDue = async (ledger: Ledger, deadline: Deadline) => {
  const accounts: IndexedAccount[] = [];
  for await (const account of indexedAccounts(ledger)) accounts.push(account);
  // Each run begins with another wallet, so a few slow ones cannot take the time of the others.
  const first = accounts.length === 0 ? 0 : minuteOf(ledger.clock()) % accounts.length;
  const results: DueResult[] = [];
  for await (const { account, readBefore } of withCheckpoints(ledger, [
    ...accounts.slice(first),
    ...accounts.slice(0, first),
  ])) {
    if (deadline.remainingMs() <= 0) break;
    let before: Checkpoint | undefined;
    try {
      before = readBefore();
      const walletDeadline = earlierDeadline(deadline, deadlineIn(RECONCILE_WALLET_MS_MAX, ledger.clock));
      results.push(await reconcileIfDue(ledger, account, before, walletDeadline));
    } catch (error) {
      const fields = { account: account.account_id, ...errorFields(error) };
      const isLasting = before !== undefined && isOverdue(ledger, account, before);
      if (isTransient(error) && !isLasting) log.warn("wallet.reconciliation_delayed", fields);
      else log.alarm("wallet.not_reconciled", fields);
    }
  }
  return {
    reconciled: results.filter((result) => result !== "not_reconciled").length,
    mismatches: results.filter((result) => result === "mismatch").length,
  };
};

/**
 * Accounts with their checkpoints, which are read in batches: few wallets are due in a run, and reading each checkpoint
 * by itself would take its time. `readBefore` throws for an account whose checkpoint could not be read.
 */
async function* withCheckpoints(ledger: Ledger, accounts: readonly IndexedAccount[]) {
  for (let start = 0; start < accounts.length; start += BATCH_KEYS_MAX) {
    const batch = accounts.slice(start, start + BATCH_KEYS_MAX);
    const accountIds = batch.map(({ account_id }) => account_id);
    const checkpointOf = await readCheckpoints(ledger, accountIds).catch((error: unknown) => (): never => {
      throw error;
    });
    for (const account of batch) yield { account, readBefore: () => checkpointOf(account.account_id) };
  }
}

const isOverdue = ({ clock }: Ledger, account: IndexedAccount, before: Checkpoint): boolean => {
  const since = [before.reconciled_at, account.created_at].map((moment) => clock() - Date.parse(moment));
  return Math.min(...since) > OVERDUE_MS || before.difference_kobo !== 0;
};

/** `difference`: found for the first time, and confirmed or refuted by the next run. */
type DueResult = "balanced" | "difference" | "mismatch" | "not_reconciled";

const reconcileIfDue = async (
  ledger: Ledger,
  account: IndexedAccount,
  before: Checkpoint,
  deadline: Deadline,
): Promise<DueResult> => {
  const { account_id: accountId } = account;
  const ageMs = ledger.clock() - Date.parse(before.reconciled_at);
  // A wallet with a difference is due in the next run, not only tomorrow.
  if (before.difference_kobo === 0 && ageMs < RECONCILE_EVERY_MS) return "not_reconciled";
  const result = await reconcileAndCheckpoint(ledger, before, deadline);
  if (result.kind !== "reconciled") {
    if (isOverdue(ledger, account, before))
      log.alarm("wallet.not_reconciled", { account: accountId, reason: result.kind });
    return "not_reconciled";
  }
  const { difference_kobo } = result.reconciliation;
  if (difference_kobo === 0) return "balanced";
  if (isMismatch(before, result.reconciliation)) {
    log.error("wallet.mismatch", { account: accountId, difference_kobo });
    return "mismatch";
  }
  log.warn("wallet.difference", { account: accountId, difference_kobo });
  return "difference";
};
