import { PENDING_MS_MAX } from "../contract/actions/refund-clock.ts";
import type { TransactionType } from "../contract/transaction.ts";
import { DAY_MS, HOUR_MS } from "../contract/values/durations.ts";
import { type Checkpoint, readCheckpoints } from "../ledger/checkpoint.ts";
import { readableOpenTransactions } from "../ledger/find-transactions.ts";
import { BATCH_KEYS_MAX, BATCHES_AT_ONCE, keyBatches } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  ALL_TIMES,
  type IndexedAccount,
  indexedAccounts,
  openKeys,
  type TimeRange,
  waitingOrderKeys,
} from "../ledger/query-index.ts";
import {
  CHECK_OPEN_MS_MAX,
  isIdentityCheck,
  isOpenOver24Hours,
  isQueuedOrder,
  isStuck,
  sentAt,
  type Transaction,
} from "../ledger/transaction.ts";
import { batchesOf } from "../platform/batches.ts";
import { type Deadline, deadlineWithin } from "../platform/deadline.ts";
import { errorFields, type LogFields, log, putMetrics } from "../platform/log.ts";
import { mapInOrder } from "../platform/map-in-order.ts";
import { fromMovingStart } from "../platform/moving-start.ts";
import { sum } from "../platform/sum.ts";
import { isoTime } from "../platform/time.ts";
import { RECONCILE_WALLET_MS_MAX, RECONCILE_WALLETS_MS_MAX, RUN_RESERVE_MS } from "../platform/time-budgets.ts";
import { isTransient } from "../platform/transient-error.ts";
import { reconcileAndCheckpoint } from "./reconcile-wallet.ts";
import { refundAbandonedChecks } from "./refund-abandoned-checks.ts";

const RECONCILE_EVERY_MS = DAY_MS;
/** A wallet that was not reconciled for this long raises an alarm. */
const OVERDUE_MS = 25 * HOUR_MS;

/** Measures what is open, refunds abandoned checks, and reconciles the wallets that are due. */
export const reconcileLedger = async (
  ledger: Ledger,
  deadline: Deadline,
): Promise<Omit<LogFields<"reconcile-ledger.ran">, "phones_masked" | "float_measured" | "months_verified">> => {
  const nowMs = ledger.clock();
  const measured = await measureOpen(ledger, nowMs);
  // Published before the work, so even a run that is cut short publishes them.
  putMetrics(
    {
      OldestOpenSeconds: measured.oldestS,
      StuckTransactions: measured.stuck,
      OldestUnrefundedSeconds: measured.oldestUnrefundedS,
      OpenOver24Hours: sum([...measured.pendingOf.values()]),
    },
    nowMs,
  );
  for (const [Kind, pending] of measured.pendingOf) putMetrics({ OpenOver24Hours: pending }, nowMs, { Kind });
  // Only from now on: what many open orders take leaves the refunds and the wallets their time.
  const reconcileDeadline = deadlineWithin(deadline, RECONCILE_WALLETS_MS_MAX, ledger.clock, RUN_RESERVE_MS);
  const abandoned = fromMovingStart(measured.abandoned, nowMs);
  const refunded = await refundAbandonedChecks(ledger, abandoned, () => reconcileDeadline.remainingMs() > 0, deadline);
  const { reconciled, mismatches, unreached } = await reconcileDue(ledger, reconcileDeadline);
  if (reconciled > 0) putMetrics({ LedgerMismatches: mismatches }, nowMs);
  return { open: measured.open, refunded, mismatches, unreached };
};

/**
 * Reads the open orders, and those that have waited for 24 hours, batch by batch, and keeps the abandoned checks alone: of an
 * outage there may be many.
 */
const measureOpen = async (ledger: Ledger, nowMs: number) => {
  const until = (toMs: number): TimeRange => ({ from: ALL_TIMES.from, to: isoTime(toMs) });
  const waiting = await waitingOrderKeys(ledger, until(nowMs - PENDING_MS_MAX));
  const keys = [...waiting, ...(await openKeys(ledger, until(nowMs)))];
  const ageMs = (transaction: Transaction): number => nowMs - Date.parse(sentAt(transaction));
  let [open, oldestMs, stuck, oldestUnrefundedMs] = [0, 0, 0, 0];
  const pendingOf = new Map<TransactionType, number>();
  const abandoned: Transaction[] = [];
  const batches = mapInOrder(keyBatches(keys), BATCHES_AT_ONCE, (batch) => readableOpenTransactions(ledger, batch));
  for await (const batch of batches) {
    for (const transaction of batch) {
      const { type } = transaction;
      if (isOpenOver24Hours(transaction, nowMs)) pendingOf.set(type, (pendingOf.get(type) ?? 0) + 1);
      // It has no outcome to wait for before it is sent.
      if (isQueuedOrder(transaction)) continue;
      const age = ageMs(transaction);
      open += 1;
      oldestMs = Math.max(oldestMs, age);
      if (isStuck(transaction, nowMs)) stuck += 1;
      if (!isIdentityCheck(transaction) || age <= CHECK_OPEN_MS_MAX) continue;
      oldestUnrefundedMs = Math.max(oldestUnrefundedMs, age);
      abandoned.push(transaction);
    }
  }
  const [oldestS, oldestUnrefundedS] = [Math.floor(oldestMs / 1_000), Math.floor(oldestUnrefundedMs / 1_000)];
  return { open, oldestS, stuck, oldestUnrefundedS, pendingOf, abandoned };
};

const reconcileDue = async (ledger: Ledger, deadline: Deadline) => {
  // Each run begins with another wallet, so a few slow ones cannot take the time of the others.
  const accounts = fromMovingStart(await Array.fromAsync(indexedAccounts(ledger)), ledger.clock());
  const results: DueResult[] = [];
  let unreached = accounts.length;
  for await (const { account, readBefore } of withCheckpoints(ledger, accounts)) {
    if (deadline.remainingMs() <= 0) break;
    unreached -= 1;
    let before: Checkpoint | undefined;
    try {
      before = readBefore();
      const walletDeadline = deadlineWithin(deadline, RECONCILE_WALLET_MS_MAX, ledger.clock);
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
    unreached: unreached > 0 ? unreached : undefined,
  };
};

/**
 * Accounts with their checkpoints, which are read in batches: few wallets are due in a run, and reading each checkpoint
 * by itself would take its time. `readBefore` throws for an account whose checkpoint could not be read.
 */
async function* withCheckpoints(ledger: Ledger, accounts: readonly IndexedAccount[]) {
  for (const batch of batchesOf(accounts, BATCH_KEYS_MAX)) {
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
  // Two differences in a row are a mismatch. Their amounts may differ: a leak may grow between them.
  if (before.difference_kobo !== 0) {
    log.error("wallet.mismatch", { account: accountId, difference_kobo });
    return "mismatch";
  }
  log.warn("wallet.difference", { account: accountId, difference_kobo });
  return "difference";
};
