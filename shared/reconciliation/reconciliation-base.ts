import type { Checkpoint } from "../ledger/checkpoint.ts";
import { readTransactions } from "../ledger/find-transactions.ts";
import { getItemBatches } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type IndexKey, listKeyBatches } from "../ledger/query-index.ts";
import { transactionList } from "../ledger/schema.ts";
import type { Deadline } from "../platform/deadline.ts";
import {
  changeAfterDebit,
  readEntryChanges,
  totalOf,
  transactionAmountSchema,
  type WalletChange,
  walletChangeOf,
} from "./wallet-changes.ts";

/** The sum of everything up to a moment: what a reconciliation starts from. */
export type ReconciliationBase = Pick<Checkpoint, "balance_kobo" | "up_to" | "version" | "open_keys">;

/** Open transactions in a base: they are one batch to read, and 4 KB of the checkpoint. */
const OPEN_KEYS_MAX = 100;

/**
 * Moves a base forward over everything that was created until `limit`, which the index then has. It stops when the
 * base is full of open transactions; and when the time is up, with `isInTime` false.
 */
export const advanceBase = async (
  ledger: Ledger,
  accountId: string,
  start: ReconciliationBase,
  limit: string,
  deadline: Deadline,
): Promise<{ readonly base: ReconciliationBase; readonly isInTime: boolean }> => {
  let base = await settleOpenKeys(ledger, start);
  if (limit <= start.up_to) return { base, isInTime: true };
  const range = { from: start.up_to, to: limit };
  let held = (await readEntryChanges(ledger, accountId, range)).filter(({ at }) => at > start.up_to);
  const newKeys = keyBatchesAfter(start.up_to, listKeyBatches(ledger, transactionList(accountId, "live"), range));
  for await (const { keys, items } of getItemBatches(ledger, newKeys, transactionAmountSchema)) {
    if (deadline.remainingMs() <= 0) return { base, isInTime: false };
    const read = items.map(walletChangeOf);
    // The next batch may hold more of the last moment.
    const last = keys.at(-1)?.created_at ?? start.up_to;
    const passing = [...held, ...read];
    const passed = addChanges(
      base,
      passing.filter(({ at }) => at < last),
    );
    if (passed.isFull) return { base: passed.base, isInTime: true };
    base = passed.base;
    held = passing.filter(({ at }) => at >= last);
  }
  return { base: addChanges(base, held).base, isInTime: true };
};

/** A range includes its first moment, which the base has already. A batch of that moment alone is empty. */
async function* keyBatchesAfter(
  moment: string,
  batches: AsyncIterable<readonly IndexKey[]>,
): AsyncGenerator<readonly IndexKey[], void, void> {
  for await (const batch of batches) yield batch.filter(({ created_at }) => created_at > moment);
}

/** Adds what the open transactions have changed since, and keeps the keys of those that are still open. */
const settleOpenKeys = async (ledger: Ledger, base: ReconciliationBase): Promise<ReconciliationBase> => {
  const transactions = await readTransactions(ledger, base.open_keys);
  const ended = transactions.map(changeAfterDebit).filter(({ isOpen }) => !isOpen);
  const endedKeys = new Set(ended.map(({ pk }) => pk));
  const { kobo, versions } = totalOf(ended);
  return {
    ...base,
    balance_kobo: base.balance_kobo + kobo,
    version: base.version + versions,
    open_keys: base.open_keys.filter((pk) => !endedKeys.has(pk)),
  };
};

const addChanges = (
  base: ReconciliationBase,
  added: readonly WalletChange[],
): { readonly base: ReconciliationBase; readonly isFull: boolean } => {
  const sorted = added.toSorted((one, other) => (one.at < other.at ? -1 : 1));
  const beyond = sorted.filter(({ isOpen }) => isOpen)[OPEN_KEYS_MAX - base.open_keys.length];
  const passed = sorted.filter(({ at }) => beyond === undefined || at < beyond.at);
  const { kobo, versions } = totalOf(passed);
  return {
    base: {
      balance_kobo: base.balance_kobo + kobo,
      up_to: passed.at(-1)?.at ?? base.up_to,
      version: base.version + versions,
      open_keys: [...base.open_keys, ...passed.filter(({ isOpen }) => isOpen).map(({ pk }) => pk)],
    },
    isFull: beyond !== undefined,
  };
};
