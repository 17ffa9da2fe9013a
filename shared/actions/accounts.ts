import { type Account, type AccountStore, accountSchema, requireAccount } from "../access/account-store.ts";
import {
  createAccount,
  setAccountLimits,
  setAccountStatus,
  setDuplicateWindow,
  setEntitlements,
  setOwners,
} from "../access/accounts.ts";
import type { accountsActions } from "../contract/actions/accounts.ts";
import { nairaFromKobo } from "../contract/money.ts";
import { orderLimitsText } from "../contract/order-limits.ts";
import { entitlementSchema, entitlementsText } from "../contract/permission.ts";
import { shownUrl } from "../contract/shown-url.ts";
import { getItems } from "../ledger/get-item.ts";
import { accountIdsOf } from "../ledger/query-index.ts";
import { accountPk, walletPk } from "../ledger/schema.ts";
import { hasPeriodLimit, type Usage, usageOn } from "../ledger/usage.ts";
import { ordersOnDay, readWallet, walletSchema } from "../ledger/wallet.ts";
import { dayInLagos } from "../platform/time.ts";
import { dateIn } from "../platform/time-zone.ts";
import { readEndpointState } from "../webhooks/endpoint-health.ts";
import { type ActionContext, audited } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";

export const accountView = ({ account_id, name, status, created_at }: Account) => ({
  account_id,
  name,
  status,
  created_at,
});

/** A key as it is shown: without its hash, and as `ended` once its overlap is over. */
export const keyView = ({ hash: _hash, ...key }: Account["keys"][number], nowMs: number) => ({
  ...key,
  status: isEnded(key, nowMs) ? ("ended" as const) : key.status,
});

/** What limits count today, and this month. */
export const usageView = ({ ledger, timeZone }: ActionContext, usage: Usage | undefined) => {
  const day = dateIn(ledger.clock(), timeZone);
  const { day_kobo, day_orders, month_kobo, month_orders } = usageOn(usage, day);
  return {
    ...{ day, day_orders, month_orders },
    day_naira: nairaFromKobo(day_kobo),
    month_naira: nairaFromKobo(month_kobo),
  };
};

const isEnded = ({ status, expires_at }: Pick<Account["keys"][number], "status" | "expires_at">, nowMs: number) =>
  status === "active" && expires_at !== undefined && nowMs >= Date.parse(expires_at);

const setStatus =
  (status: Account["status"], action: string) =>
  async (context: ActionContext, { account, why }: { readonly account: string; readonly why?: string | undefined }) => {
    const store: AccountStore = audited(context, () => ({ action, why }));
    return accountView(await setAccountStatus(store, account, status));
  };

const ownersText = (owners: Account["owners"]): string => owners.map(({ kind, value }) => `${kind}:${value}`).join(" ");

export const readAccounts = ({ ledger }: ActionContext, accountIds: readonly string[]): Promise<readonly Account[]> =>
  getItems(
    ledger,
    accountIds.map((accountId) => ({ pk: accountPk(accountId) })),
    accountSchema,
  );

export const accountsRuns: ActionRuns<typeof accountsActions> = {
  "accounts list": async (context) => {
    const { ledger } = context;
    const accountIds = await accountIdsOf(ledger);
    const [accounts, wallets] = await Promise.all([
      readAccounts(context, accountIds),
      getItems(
        ledger,
        accountIds.map((accountId) => ({ pk: walletPk(accountId) })),
        walletSchema,
      ),
    ]);
    const balances = new Map(wallets.map(({ account_id, balance_kobo }) => [account_id, balance_kobo]));
    return {
      accounts: accounts.map((account) => {
        const balance = balances.get(account.account_id);
        if (balance === undefined) throw new Error(`The account ${account.account_id} has no wallet`);
        return { ...accountView(account), balance: nairaFromKobo(balance) };
      }),
    };
  },

  "accounts show": async (context, { account: accountId }) => {
    const { ledger, accounts } = context;
    const account = await requireAccount(accounts, accountId);
    const wallet = await readWallet(ledger, accountId);
    const { balance_kobo, low_balance_threshold_kobo } = wallet;
    const { owners, entitlements } = account;
    const endpoint = await readEndpointState(ledger, account);
    const limited = entitlementSchema.options.filter((each) => typeof entitlements[each] === "number");
    return {
      ...accountView(account),
      balance: nairaFromKobo(balance_kobo),
      low_balance_threshold:
        low_balance_threshold_kobo === undefined ? null : nairaFromKobo(low_balance_threshold_kobo),
      ...(owners.length > 0 && { owners }),
      entitlements,
      orders_today: Object.fromEntries(
        limited.map((each) => [each, ordersOnDay(wallet, each, dayInLagos(ledger.clock()))]),
      ),
      ...(account.duplicate_window_s !== undefined && { duplicate_window_s: account.duplicate_window_s }),
      ...(account.order_limits !== undefined && { order_limits: account.order_limits }),
      ...(hasPeriodLimit(account.order_limits) && { usage: usageView(context, wallet) }),
      ips: account.whitelist,
      keys: account.keys.map((key) => keyView(key, ledger.clock())),
      webhook: endpoint?.url === undefined ? null : { url: shownUrl(endpoint.url), status: endpoint.status },
    };
  },

  "accounts create": async (context, { name, why }) => {
    const store = audited(context, () => ({ action: "accounts create", why, details: { name } }));
    return accountView(await createAccount(store, { name, whitelist: [] }));
  },

  "accounts restrict": setStatus("restricted", "accounts restrict"),

  "accounts unrestrict": setStatus("active", "accounts unrestrict"),

  "accounts entitle": async (context, { account, entitlements, why }) => {
    const details = { entitlements: entitlementsText(entitlements) };
    const store = audited(context, () => ({ action: "accounts entitle", why, details }));
    return { account_id: account, entitlements: (await setEntitlements(store, account, entitlements)).entitlements };
  },

  "accounts duplicates": async (context, { account, window_s, why }) => {
    const windowS = window_s === 0 ? undefined : window_s;
    const details = { window_s };
    const store = audited(context, () => ({ action: "accounts duplicates", why, details }));
    const { duplicate_window_s } = await setDuplicateWindow(store, account, windowS);
    return { account_id: account, ...(duplicate_window_s !== undefined && { duplicate_window_s }) };
  },

  "accounts limits": async (context, { account, limits, why }) => {
    const details = { limits: orderLimitsText(limits) };
    const store = audited(context, () => ({ action: "accounts limits", why, details }));
    const { order_limits = {} } = await setAccountLimits(store, account, limits);
    return { account_id: account, order_limits };
  },

  "accounts owners": async (context, { account, owners, before, why }) => {
    const details = { owners: ownersText(owners) };
    const store = audited(context, () => ({ action: "accounts owners", why, details }));
    return { account_id: account, owners: (await setOwners(store, account, owners, before)).owners };
  },
};
