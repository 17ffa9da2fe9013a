import type { Ledger } from "../../shared/ledger/ledger.ts";
import { sleep } from "../../shared/platform/time.ts";
import { confirmedReconciliation, type Reconciliation } from "../../shared/reconciliation/reconcile-wallet.ts";
import { duration, naira, nairaNumber, orNull, table } from "./print.ts";

/** A wallet that was verified; `proof` is absent where it was too busy. */
export type ReconciledWallet = { readonly account_id: string; readonly proof: Reconciliation | undefined };

/** An index follows its table within a second or two: a difference counts once a second reading shows it too. */
const INDEX_LAG_MS = 5_000;

/** Verifies these wallets one after the other, and reports its progress. */
export const reconcileWallets = async (
  ledger: Ledger,
  accountIds: Iterable<string>,
  logProgress: (sentence: string) => void,
): Promise<readonly ReconciledWallet[]> => {
  const verified: ReconciledWallet[] = [];
  for (const accountId of accountIds) {
    const proof = await confirmedReconciliation(ledger, accountId, async () => {
      logProgress(
        `${accountId}: the reading shows a difference: reading again in ${duration(INDEX_LAG_MS)} to confirm it ...`,
      );
      await sleep(INDEX_LAG_MS);
    });
    verified.push({ account_id: accountId, proof });
    if (verified.length % 100 === 0) logProgress(`${verified.length} wallets verified`);
  }
  return verified;
};

const isProved = (proof: Reconciliation | undefined): boolean => proof?.difference_kobo === 0;

/** The wallets whose balance is not what their entries sum up to, or could not be verified. */
export const notReconciled = (wallets: readonly ReconciledWallet[]): readonly ReconciledWallet[] =>
  wallets.filter(({ proof }) => !isProved(proof));

export const reconciledJson = (wallets: readonly ReconciledWallet[]) =>
  wallets.map(({ account_id, proof }) => ({
    account_id,
    ok: isProved(proof),
    balance: orNull(proof?.balance_kobo, nairaNumber),
    expected: orNull(proof?.expected_kobo, nairaNumber),
    difference: orNull(proof?.difference_kobo, nairaNumber),
  }));

export const reconciledTable = (wallets: readonly ReconciledWallet[]): string =>
  table(
    ["account", "balance", "expected", "difference"],
    wallets.map(({ account_id, proof }) => [
      account_id,
      orNull(proof?.balance_kobo, naira),
      orNull(proof?.expected_kobo, naira),
      proof === undefined ? "too busy" : naira(proof.difference_kobo),
    ]),
  );
