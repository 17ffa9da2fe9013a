import { BATCH_KEYS_MAX } from "../ledger/batch-read.ts";
import {
  type Checkpoint,
  firstCheckpoint,
  readCheckpoint,
  replaceCheckpoint,
  writeCheckpoint,
} from "../ledger/checkpoint.ts";
import { readTransactions } from "../ledger/find-transactions.ts";
import type { Ledger } from "../ledger/transact.ts";
import { readWallet } from "../ledger/wallet.ts";
import { backoff } from "../platform/backoff.ts";
import type { Deadline } from "../platform/deadline.ts";
import { isoTime } from "../platform/time.ts";
import {
  changeAfterDebit,
  type LedgerChange,
  ledgerChangeOf,
  readEntryChanges,
  totalOf,
  transactionKeys,
} from "./ledger-changes.ts";
import { advanceBase, baseOf, type ReconciliationBase } from "./reconciliation-base.ts";

/** What proves a wallet: fundings and adjustments minus transactions that are not `failed` equal the balance. All in kobo. */
export type Reconciliation = {
  readonly balance_kobo: number;
  readonly expected_kobo: number;
  /** What is in the wallet beyond what should be; 0 is proved. */
  readonly difference_kobo: number;
};

/** What was made so long before a reading is in the index by then: a request ends after 29 s, and the index lags by moments. */
const INDEXED_AGE_MS = 120_000;
/** What is older is added to the base, and found there by every later proof. */
const SETTLED_AGE_MS = 3_600_000;
const PROOF_ROUNDS_MAX = 12;
/** So many rounds without a change of the wallet take about a second: the index has caught up with it. */
const QUIET_ROUNDS = 6;

const noDeadline: Deadline = { remainingMs: () => Number.POSITIVE_INFINITY };

/** Two differences in a row are a mismatch, whatever their amounts: a leak may grow between them. */
export const isMismatch = (
  before: Pick<Reconciliation, "difference_kobo">,
  { difference_kobo }: Pick<Reconciliation, "difference_kobo">,
): boolean => before.difference_kobo !== 0 && difference_kobo !== 0;

/** Proves one wallet, and writes nothing; undefined while it is too busy to be proved. */
export const reconcileWallet = async (ledger: Ledger, accountId: string): Promise<Reconciliation | undefined> =>
  proofIn(await readFrom(ledger, await readCheckpoint(ledger, accountId), noDeadline));

/**
 * Proves one wallet for a person, who acts on the result at once. A mismatch may also come from a checkpoint that does not hold an
 * entry which was written with an earlier time: it is confirmed by a reading of everything, and a checkpoint that this refutes is
 * reset.
 */
export const confirmedReconciliation = async (
  ledger: Ledger,
  accountId: string,
  pause: () => Promise<void>,
): Promise<Reconciliation | undefined> => {
  const first = await reconcileWallet(ledger, accountId);
  if (first === undefined || first.difference_kobo === 0) return first;
  await pause();
  const second = await reconcileWallet(ledger, accountId);
  if (second === undefined || !isMismatch(first, second)) return second;
  const whole = proofIn(await readFrom(ledger, firstCheckpoint(accountId), noDeadline));
  if (whole !== undefined && whole.difference_kobo !== second.difference_kobo) {
    await writeCheckpoint(ledger, firstCheckpoint(accountId));
  }
  return whole;
};

/**
 * Proves one wallet and keeps the result in its checkpoint. Without a result it keeps how far the reading came, so that the next run
 * goes on from there.
 */
export const reconcileAndCheckpoint = async (
  ledger: Ledger,
  before: Checkpoint,
  deadline: Deadline = noDeadline,
): Promise<ReconciliationResult> => {
  const reading = await readFrom(ledger, before, deadline);
  const proof = proofIn(reading);
  const result = proof && { proved_at: isoTime(ledger.clock()), difference_kobo: proof.difference_kobo };
  // A wrong sum is not made the base of later proofs.
  const isRight = (proof ?? before).difference_kobo === 0;
  const next: Checkpoint = { ...before, ...(isRight && reading.base), ...result };
  if (isRight || proof !== undefined) await replaceCheckpoint(ledger, before, next);
  return reading;
};

export type ReconciliationResult =
  | { readonly kind: "proved"; readonly proof: Reconciliation; readonly base: ReconciliationBase }
  /** The wallet was changed in every round, or the time was up. */
  | { readonly kind: "busy" | "out_of_time"; readonly base: ReconciliationBase };

const proofIn = (reading: ReconciliationResult): Reconciliation | undefined =>
  reading.kind === "proved" ? reading.proof : undefined;

const readFrom = async (ledger: Ledger, checkpoint: Checkpoint, deadline: Deadline): Promise<ReconciliationResult> => {
  const { account_id } = checkpoint;
  const limit = isoTime(ledger.clock() - SETTLED_AGE_MS);
  const { base, isInTime } = await advanceBase(ledger, account_id, baseOf(checkpoint), limit, deadline);
  return isInTime ? readRounds(ledger, account_id, base, deadline) : { kind: "out_of_time", base };
};

/**
 * Reads what the base does not hold, and then the wallet. The wallet's version counts its changes: a reading that has found as many is
 * exact, however busy the wallet is. Otherwise the index lags, and what is new or open is read again. A version that never agrees (of a
 * wallet that was restored, or refunded twice) is accepted once the wallet has been quiet for some rounds.
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
  for (let round = 0; round < PROOF_ROUNDS_MAX; round += 1) {
    const indexed = isoTime(ledger.clock() - INDEXED_AGE_MS);
    if (!(await readRecent(ledger, accountId, base, { recent, from }, deadline))) return { kind: "out_of_time", base };
    const { version, balance_kobo } = await readWallet(ledger, accountId);
    const { kobo, changes } = totalOf(recent.values());
    const uncounted = version - (base.version + changes);
    quietRounds = version === lastVersion ? quietRounds + 1 : 0;
    if (uncounted === 0 || quietRounds === QUIET_ROUNDS) {
      const expectedKobo = base.sum_kobo + kobo;
      const proof = { balance_kobo, expected_kobo: expectedKobo, difference_kobo: balance_kobo - expectedKobo };
      return { kind: "proved", proof, base: { ...base, version: base.version + uncounted } };
    }
    lastVersion = version;
    if (indexed > from) from = indexed;
    if (!(await nextAttempt())) return { kind: "out_of_time", base };
  }
  return { kind: "busy", base };
};

const stillOpen = (pk: string, at: string): LedgerChange => ({ pk, at, kobo: 0, changes: 0, isOpen: true });

/** Reads what was created since `from` and is not known yet, and what was open; false where the time was up. */
const readRecent = async (
  ledger: Ledger,
  accountId: string,
  base: ReconciliationBase,
  { recent, from }: { readonly recent: Map<string, LedgerChange>; readonly from: string },
  deadline: Deadline,
): Promise<boolean> => {
  const range = { from, to: "9999" };
  for (const entry of await readEntryChanges(ledger, accountId, range)) {
    if (entry.at > base.up_to) recent.set(entry.pk, entry);
  }
  const keys = await transactionKeys(ledger, accountId, range);
  const unread = [
    ...[...recent.values()].filter(({ isOpen }) => isOpen),
    ...keys.filter(({ pk, created_at }) => created_at > base.up_to && !recent.has(pk)),
  ];
  const inBase = new Set(base.open_keys);
  for (let start = 0; start < unread.length; start += BATCH_KEYS_MAX) {
    if (deadline.remainingMs() <= 0) return false;
    for (const transaction of await readTransactions(ledger, unread.slice(start, start + BATCH_KEYS_MAX))) {
      recent.set(
        transaction.pk,
        inBase.has(transaction.pk) ? changeAfterDebit(transaction) : ledgerChangeOf(transaction),
      );
    }
  }
  return true;
};
