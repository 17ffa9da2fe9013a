import type { ReconciledWallet } from "../../../shared/actions/reconcile-wallets.ts";
import { nairaNumber } from "../../../shared/platform/money.ts";
import { naira, orNull, table } from "./print.ts";

export const reconciledJson = (wallets: readonly ReconciledWallet[]) =>
  wallets.map(({ account_id, reconciliation }) => ({
    account_id,
    ok: reconciliation?.difference_kobo === 0,
    balance: orNull(reconciliation?.balance_kobo, nairaNumber),
    expected: orNull(reconciliation?.expected_kobo, nairaNumber),
    difference: orNull(reconciliation?.difference_kobo, nairaNumber),
  }));

export const reconciledTable = (wallets: readonly ReconciledWallet[]): string =>
  table(
    ["account", "balance", "expected", "difference"],
    wallets.map(({ account_id, reconciliation }) => [
      account_id,
      orNull(reconciliation?.balance_kobo, naira),
      orNull(reconciliation?.expected_kobo, naira),
      reconciliation === undefined ? "too busy" : naira(reconciliation.difference_kobo),
    ]),
  );
