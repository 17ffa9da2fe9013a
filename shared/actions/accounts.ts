import { type Account, requireAccount } from "../access/account-store.ts";
import type { accountsActions } from "../contract/actions/accounts.ts";
import { accountIdsOf } from "../ledger/query-index.ts";
import { readWallet } from "../ledger/wallet.ts";
import { nairaNumber } from "../platform/money.ts";
import type { ActionRuns } from "./action-runs.ts";

export const accountView = ({ account_id, name, status, created_at }: Account) => ({
  account_id,
  name,
  status,
  created_at,
});

export const accountsRuns: ActionRuns<typeof accountsActions> = {
  "accounts list": async ({ ledger, accounts }) => {
    const views: (ReturnType<typeof accountView> & { readonly balance: number })[] = [];
    for (const accountId of await accountIdsOf(ledger)) {
      const [account, { balance_kobo }] = await Promise.all([
        requireAccount(accounts, accountId),
        readWallet(ledger, accountId),
      ]);
      views.push({ ...accountView(account), balance: nairaNumber(balance_kobo) });
    }
    return { accounts: views };
  },
};
