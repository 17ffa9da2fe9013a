import type { ReconciledWallet } from "../../../shared/actions/reconcile-wallets.ts";
import { nairaFromKobo } from "../../../shared/contract/values/money.ts";
import { koboText, orNull, table } from "./print.ts";

export const reconciledJson = (wallets: readonly ReconciledWallet[]) =>
  wallets.map(({ account_id, reconciliation }) => ({
    account_id,
    ok: reconciliation?.difference_kobo === 0,
    balance: orNull(reconciliation?.balance_kobo, nairaFromKobo),
    expected: orNull(reconciliation?.expected_kobo, nairaFromKobo),
    difference: orNull(reconciliation?.difference_kobo, nairaFromKobo),
  }));

export const reconciledTable = (wallets: readonly ReconciledWallet[]): string =>
  table(
    ["account", "balance", "expected", "difference"],
    wallets.map(({ account_id, reconciliation }) => [
      account_id,
      orNull(reconciliation?.balance_kobo, koboText),
      orNull(reconciliation?.expected_kobo, koboText),
      reconciliation === undefined ? "too busy" : koboText(reconciliation.difference_kobo),
    ]),
  );
