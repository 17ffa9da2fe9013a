import { duration } from "../contract/values/durations.ts";
import { firstCheckpoint, writeCheckpoint } from "../ledger/checkpoint.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { sleep } from "../platform/time.ts";
import { confirmedReconciliation, type Reconciliation } from "../reconciliation/reconcile-wallet.ts";

/** One wallet; `reconciliation` is absent if other writes kept changing the wallet. */
export type ReconciledWallet = { readonly account_id: string; readonly reconciliation: Reconciliation | undefined };

/** An index follows its table within a second or two, so a difference counts only if a second reading confirms it. */
const INDEX_LAG_MS = 5_000;
const PROGRESS_EVERY = 100;

/** Reconciles wallets one after the other; `resetCheckpoint` for those of which it is wrong. */
export const reconcileWallets = async (
  ledger: Ledger,
  accountIds: Iterable<string>,
  logProgress: (message: string) => void,
  resetCheckpoint = (accountId: string): Promise<void> => writeCheckpoint(ledger, firstCheckpoint(accountId)),
): Promise<readonly ReconciledWallet[]> => {
  const reconciled: ReconciledWallet[] = [];
  for (const accountId of accountIds) {
    const pause = async (): Promise<void> => {
      logProgress(`${accountId}: found a difference; reading again in ${duration(INDEX_LAG_MS)} to confirm it ...`);
      await sleep(INDEX_LAG_MS);
    };
    const reconciliation = await confirmedReconciliation(ledger, accountId, { pause, resetCheckpoint });
    reconciled.push({ account_id: accountId, reconciliation });
    if (reconciled.length % PROGRESS_EVERY === 0) logProgress(`${reconciled.length} wallets reconciled`);
  }
  return reconciled;
};

/** The wallets whose balance differs from their entries, or that could not be reconciled. */
export const notReconciled = (wallets: readonly ReconciledWallet[]): readonly ReconciledWallet[] =>
  wallets.filter(({ reconciliation }) => reconciliation?.difference_kobo !== 0);
