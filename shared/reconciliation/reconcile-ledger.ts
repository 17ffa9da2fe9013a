import { type IndexedAccount, indexedAccounts } from "../ledger/account-index.ts";
import { readCheckpoint } from "../ledger/checkpoint.ts";
import { openTransactions } from "../ledger/open-transactions.ts";
import { type SettlementResult, settleTransaction } from "../ledger/settle-transaction.ts";
import type { Ledger } from "../ledger/transact.ts";
import { isIdentityCheck, type Transaction } from "../ledger/transaction.ts";
import { type Deadline, deadlineIn, soonest } from "../platform/deadline.ts";
import { errorFields, type LogFields, log, putMetrics } from "../platform/log.ts";
import { isoTime, minuteOf } from "../platform/time.ts";
import {
  RECONCILE_WALLET_MS_MAX,
  RECONCILE_WALLETS_MS_MAX,
  REFUND_MS_MAX,
  RUN_RESERVE_MS,
} from "../platform/time-budgets.ts";
import { isMismatch, reconcileAndCheckpoint } from "./reconcile-wallet.ts";

/** A live purchase that is open for longer is stuck: somebody should look. */
export const STUCK_MS = 15 * 60_000;
/** An identity check has no result to wait for: a request that died between debit and answer is refunded. */
const CHECK_OPEN_MS_MAX = 5 * 60_000;
const PROOF_EVERY_MS = 24 * 3_600_000;
/** A wallet that was not proved for so long raises an alarm. */
const UNPROVED_MS_MAX = 25 * 3_600_000;

/** Measures what is open, refunds checks that nobody will answer any more, and proves the wallets that are due. */
export const reconcileLedger = async (
  ledger: Ledger,
  deadline: Deadline,
): Promise<Omit<LogFields<"reconcile-ledger.ran">, "phones_masked">> => {
  const nowMs = ledger.clock();
  const proofsDeadline = soonest(deadlineIn(RECONCILE_WALLETS_MS_MAX, ledger.clock), {
    remainingMs: () => deadline.remainingMs() - RUN_RESERVE_MS,
  });
  const open = await openTransactions(ledger, { from: "0000", to: isoTime(nowMs) });
  const ageMs = ({ created_at }: Transaction): number => nowMs - Date.parse(created_at);
  const oldestS = (transactions: readonly Transaction[]): number =>
    transactions.reduce((oldest, transaction) => Math.max(oldest, Math.floor(ageMs(transaction) / 1_000)), 0);

  const abandoned = open.filter((row) => isIdentityCheck(row) && ageMs(row) > CHECK_OPEN_MS_MAX);
  // Before the work: a run that does not come to its end has measured.
  putMetrics(
    {
      OldestOpenSeconds: oldestS(open),
      StuckTransactions: open.filter((row) => ageMs(row) > STUCK_MS).length,
      OldestUnrefundedSeconds: oldestS(abandoned),
    },
    nowMs,
  );
  const refunded = await refundAll(ledger, abandoned, deadline);
  const { proved, mismatches } = await proveDue(ledger, proofsDeadline);
  if (proved > 0) putMetrics({ LedgerMismatches: mismatches }, nowMs);
  return { open: open.length, refunded, mismatches };
};

const refundAll = async (ledger: Ledger, transactions: readonly Transaction[], deadline: Deadline): Promise<number> => {
  let refunded = 0;
  for (const transaction of transactions) {
    try {
      const kind = await refund(ledger, transaction, soonest(deadline, deadlineIn(REFUND_MS_MAX)));
      if (kind === "applied") refunded += 1;
      if (kind !== "not_known") continue;
      log.error("identity_check.not_refunded", { transaction: transaction.pk });
    } catch (error) {
      log.error("identity_check.not_refunded", { transaction: transaction.pk, ...errorFields(error) });
    }
    if (deadline.remainingMs() <= RUN_RESERVE_MS) break;
  }
  return refunded;
};

const refund = async (
  ledger: Ledger,
  transaction: Transaction,
  deadline: Deadline,
): Promise<SettlementResult["kind"]> => {
  const settlement = { status: "failed", failure: { code: "provider_timeout" } } as const;
  return (await settleTransaction(ledger, transaction, settlement, deadline)).kind;
};

const proveDue = async (ledger: Ledger, deadline: Deadline) => {
  const accounts: IndexedAccount[] = [];
  for await (const account of indexedAccounts(ledger)) accounts.push(account);
  // Each run begins with another wallet: some that take all of the time in every run do not keep it from the others.
  const first = accounts.length === 0 ? 0 : minuteOf(ledger.clock()) % accounts.length;
  const results: (ProofResult | undefined)[] = [];
  for (const account of [...accounts.slice(first), ...accounts.slice(0, first)]) {
    if (deadline.remainingMs() <= 0) break;
    try {
      results.push(
        await proveIfDue(ledger, account, soonest(deadline, deadlineIn(RECONCILE_WALLET_MS_MAX, ledger.clock))),
      );
    } catch (error) {
      log.alarm("wallet.not_reconciled", { account: account.account_id, ...errorFields(error) });
    }
  }
  const proved = results.filter((result) => result !== undefined);
  return { proved: proved.length, mismatches: proved.filter((result) => result === "mismatch").length };
};

type ProofResult = "right" | "differs" | "mismatch";

/** Undefined where the wallet is not due, or could not be proved. */
const proveIfDue = async (
  ledger: Ledger,
  account: IndexedAccount,
  deadline: Deadline,
): Promise<ProofResult | undefined> => {
  const { account_id: accountId } = account;
  const before = await readCheckpoint(ledger, accountId);
  const ageMs = (moment: string): number => ledger.clock() - Date.parse(moment);
  // A difference is looked at again in the next run, and not only tomorrow.
  if (before.difference_kobo === 0 && ageMs(before.proved_at) < PROOF_EVERY_MS) return undefined;
  const reading = await reconcileAndCheckpoint(ledger, before, deadline);
  if (reading.kind !== "proved") {
    const unprovedMs = Math.min(ageMs(before.proved_at), ageMs(account.created_at));
    const isOverdue = unprovedMs > UNPROVED_MS_MAX || before.difference_kobo !== 0;
    if (isOverdue) log.alarm("wallet.not_reconciled", { account: accountId, reason: reading.kind });
    return undefined;
  }
  const { difference_kobo } = reading.proof;
  if (difference_kobo === 0) return "right";
  if (isMismatch(before, reading.proof)) {
    log.error("wallet.mismatch", { account: accountId, difference_kobo });
    return "mismatch";
  }
  log.warn("wallet.difference", { account: accountId, difference_kobo });
  return "differs";
};
