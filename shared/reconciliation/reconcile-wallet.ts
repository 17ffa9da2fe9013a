import { HOUR_MS } from "../contract/values/durations.ts";
import { type Checkpoint, firstCheckpoint, readCheckpoint, replaceCheckpoint } from "../ledger/checkpoint.ts";
import { getItemBatches, keyBatches } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { INDEXED_AGE_MS, listKeys } from "../ledger/query-index.ts";
import { transactionList } from "../ledger/schema.ts";
import { readWallet } from "../ledger/wallet.ts";
import { backoff } from "../platform/backoff.ts";
import type { Deadline } from "../platform/deadline.ts";
import { isoTime } from "../platform/time.ts";
import { advanceBase, type ReconciliationBase } from "./reconciliation-base.ts";
import {
  changeAfterDebit,
  readEntryChanges,
  totalOf,
  transactionAmountSchema,
  type WalletChange,
  walletChangeOf,
} from "./wallet-changes.ts";

/** Compares the balance with the entries minus the transactions that are not `failed`. */
export type Reconciliation = {
  readonly balance_kobo: number;
  readonly expected_kobo: number;
  /** The balance minus the expected balance. */
  readonly difference_kobo: number;
};

/** Items older than this are added to the base of later reconciliations. */
const SETTLED_AGE_MS = HOUR_MS;
const ROUNDS_MAX = 12;
/** After this many rounds without a change of the wallet, about a second, the index has caught up with it. */
const QUIET_ROUNDS = 6;

const noDeadline: Deadline = { remainingMs: () => Number.POSITIVE_INFINITY };

/** Reconciles one wallet, and writes nothing; undefined while it is too busy. */
export const reconcileWallet = async (ledger: Ledger, accountId: string): Promise<Reconciliation | undefined> =>
  (await reconcileFrom(ledger, await readCheckpoint(ledger, accountId), noDeadline)).reconciliation;

/**
 * Reconciles one wallet for an operator, who acts on the result at once. A checkpoint that lacks an entry looks like a
 * mismatch too: a mismatch is confirmed by reading everything, and a checkpoint that this refutes is reset.
 */
export const confirmedReconciliation = async (
  ledger: Ledger,
  accountId: string,
  {
    pause,
    resetCheckpoint,
  }: { readonly pause: () => Promise<void>; readonly resetCheckpoint: (accountId: string) => Promise<void> },
): Promise<Reconciliation | undefined> => {
  const first = await reconcileWallet(ledger, accountId);
  if (first === undefined || first.difference_kobo === 0) return first;
  await pause();
  const second = await reconcileWallet(ledger, accountId);
  if (second === undefined || second.difference_kobo === 0) return second;
  const { reconciliation: whole } = await reconcileFrom(ledger, firstCheckpoint(accountId), noDeadline);
  if (whole !== undefined && whole.difference_kobo !== second.difference_kobo) {
    await resetCheckpoint(accountId);
  }
  return whole;
};

/**
 * Reconciles one wallet and stores the result in its checkpoint. Without a result it stores how far the base came, so
 * the next run continues from there.
 */
export const reconcileAndCheckpoint = async (
  ledger: Ledger,
  before: Checkpoint,
  deadline: Deadline = noDeadline,
): Promise<ReconciliationResult> => {
  const result = await reconcileFrom(ledger, before, deadline);
  const { reconciliation } = result;
  const latest = reconciliation && {
    reconciled_at: isoTime(ledger.clock()),
    difference_kobo: reconciliation.difference_kobo,
  };
  // A wrong sum does not become the base of later reconciliations.
  const isRight = (reconciliation ?? before).difference_kobo === 0;
  await replaceCheckpoint(ledger, before, { ...before, ...(isRight && result.base), ...latest });
  return result;
};

export type ReconciliationResult =
  | { readonly kind: "reconciled"; readonly reconciliation: Reconciliation; readonly base: ReconciliationBase }
  /** The wallet was changed in every round, or the time was up. */
  | { readonly kind: "busy" | "out_of_time"; readonly reconciliation?: never; readonly base: ReconciliationBase };

const reconcileFrom = async (
  ledger: Ledger,
  checkpoint: Checkpoint,
  deadline: Deadline,
): Promise<ReconciliationResult> => {
  const { account_id, balance_kobo, up_to, version, open_keys } = checkpoint;
  const limit = isoTime(ledger.clock() - SETTLED_AGE_MS);
  const { base, isInTime } = await advanceBase(
    ledger,
    account_id,
    { balance_kobo, up_to, version, open_keys },
    limit,
    deadline,
  );
  return isInTime ? readRounds(ledger, account_id, base, deadline) : { kind: "out_of_time", base };
};

/**
 * Reads what the base lacks, and then the wallet. The wallet's version counts its changes: a round that has found as
 * many is exact, however busy the wallet is. Otherwise the index lags, and what is new or open is read again. A version
 * that never agrees (of a wallet that was restored, or refunded twice) is accepted once the wallet has been quiet for
 * some rounds.
 */
const readRounds = async (
  ledger: Ledger,
  accountId: string,
  base: ReconciliationBase,
  deadline: Deadline,
): Promise<ReconciliationResult> => {
  const recent = new Map(base.open_keys.map((pk) => [pk, stillOpen(pk, base.up_to)]));
  let from = base.up_to;
  let lastVersion: number | undefined;
  let quietRounds = 0;
  const nextAttempt = backoff(deadline.remainingMs);
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const indexed = isoTime(ledger.clock() - INDEXED_AGE_MS);
    if (!(await readRecent(ledger, accountId, base, { recent, from }, deadline))) return { kind: "out_of_time", base };
    const { version, balance_kobo } = await readWallet(ledger, accountId);
    const { kobo, versions } = totalOf(recent.values());
    const uncounted = version - (base.version + versions);
    quietRounds = version === lastVersion ? quietRounds + 1 : 0;
    if (uncounted === 0 || quietRounds === QUIET_ROUNDS) {
      const expectedKobo = base.balance_kobo + kobo;
      const reconciliation = {
        balance_kobo,
        expected_kobo: expectedKobo,
        difference_kobo: balance_kobo - expectedKobo,
      };
      return { kind: "reconciled", reconciliation, base: { ...base, version: base.version + uncounted } };
    }
    lastVersion = version;
    from = indexed;
    if (!(await nextAttempt())) return { kind: "out_of_time", base };
  }
  return { kind: "busy", base };
};

const stillOpen = (pk: string, at: string): WalletChange => ({ pk, at, kobo: 0, versions: 0, isOpen: true });

/** Reads what was created since `from`, and again what was open; false where the time is up. */
const readRecent = async (
  ledger: Ledger,
  accountId: string,
  base: ReconciliationBase,
  { recent, from }: { readonly recent: Map<string, WalletChange>; readonly from: string },
  deadline: Deadline,
): Promise<boolean> => {
  const range = { from, to: "9999" };
  for (const entry of await readEntryChanges(ledger, accountId, range)) {
    if (entry.at > base.up_to) recent.set(entry.pk, entry);
  }
  const keys = await listKeys(ledger, transactionList(accountId, "live"), range);
  const unread = [
    ...[...recent.values()].filter(({ isOpen }) => isOpen),
    ...keys.filter(({ pk, created_at }) => created_at > base.up_to && !recent.has(pk)),
  ];
  const inBase = new Set(base.open_keys);
  for await (const { items } of getItemBatches(ledger, keyBatches(unread), transactionAmountSchema)) {
    if (deadline.remainingMs() <= 0) return false;
    for (const transaction of items) {
      recent.set(
        transaction.pk,
        inBase.has(transaction.pk) ? changeAfterDebit(transaction) : walletChangeOf(transaction),
      );
    }
  }
  return true;
};
