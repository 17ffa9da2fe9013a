import * as z from "#zod";
import { type Account, type AccountStore, accountSchema, requireAccount } from "../access/account-store.ts";
import {
  closeAccount,
  createAccount,
  ENTITLEMENTS_CHANGED,
  LIMITS_CHANGED,
  reopenAccount,
  setAccountLimits,
  setAccountStatus,
  setDuplicateWindow,
  setEntitlements,
  setOwners,
} from "../access/accounts.ts";
import type { accountsActions } from "../contract/actions/accounts.ts";
import type { Action } from "../contract/actions/action.ts";
import { keysActions } from "../contract/actions/keys.ts";
import { whitelistActions } from "../contract/actions/whitelist.ts";
import { payoutId } from "../contract/corrections.ts";
import { orderLimitsText, raisesLimits } from "../contract/order-limits.ts";
import { entitlementSchema, entitlementsText, raisesEntitlements } from "../contract/permission.ts";
import { koboMoneyText, nairaFromKobo } from "../contract/values/money.ts";
import { shownUrl } from "../contract/values/shown-url.ts";
import { dateIn } from "../contract/values/time-zone.ts";
import { openOrders } from "../ledger/find-transactions.ts";
import { getItemFields, getItems } from "../ledger/get-item.ts";
import { ALL_TIMES, accountIdsOf, INDEXED_AGE_MS } from "../ledger/query-index.ts";
import { accountPk, walletPk } from "../ledger/schema.ts";
import { hasPeriodLimit, type Usage, usageOn } from "../ledger/usage.ts";
import { ordersOnDay, readWallet, type Wallet, walletSchema } from "../ledger/wallet.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { orNull } from "../platform/or-null.ts";
import { dayInLagos, EPOCH, isoTime } from "../platform/time.ts";
import { readQueuedOrders } from "../queued-orders/queued-orders-report.ts";
import { readEndpointStates } from "../webhooks/endpoint-health.ts";
import { type ActionContext, audited, isForOwner } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";

type ShownAccount = Pick<Account, "account_id" | "name" | "status" | "created_at">;
export const accountView = ({ account_id, name, status, created_at }: ShownAccount) => ({
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

/**
 * What limits count today, and this month: as for a debit, the day of the counters if it is ahead, as after a change of the
 * stage's time zone.
 */
export const usageView = ({ ledger, timeZone }: ActionContext, usage: Usage | undefined) => {
  const today = dateIn(ledger.clock(), timeZone);
  const { usage_day = today } = usage ?? {};
  const day = usage_day > today ? usage_day : today;
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
  (status: "active" | "restricted", action: string) =>
  async (context: ActionContext, { account, why }: { readonly account: string; readonly why?: string | undefined }) => {
    const store: AccountStore = audited(context, () => ({ action, why }));
    return accountView(await setAccountStatus(store, account, status));
  };

export const ownerText = ({ kind, value }: Account["owners"][number]): string => `${kind}:${value}`;

/** What an account is called, and whether it is in use. */
export const shownAccountSchema = z.pick(accountSchema, {
  ...{ pk: true, account_id: true, name: true, status: true, created_at: true },
});
/** Which endpoints it ever had. */
export const endpointsMadeSchema = z.pick(accountSchema, { pk: true, account_id: true, endpoints_made: true });

/**
 * What the schema has of these accounts. Nothing else is read: within years most of an account's item is its keys, and most
 * readers of all accounts need none.
 */
export const readAccounts = <Item extends { readonly pk: string }>(
  { ledger }: Pick<ActionContext, "ledger">,
  accountIds: readonly string[],
  schema: z.ZodMiniType<Item> & { readonly shape: object },
): Promise<readonly Item[]> => getItemFields(ledger, accountIds.map(accountPk), schema);

/** What accounts are called, by their ids. */
export const accountNamesOf = async (
  context: Pick<ActionContext, "ledger">,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, string>> =>
  new Map(
    (await readAccounts(context, accountIds, shownAccountSchema)).map(({ account_id, name }) => [account_id, name]),
  );

/**
 * Why an account cannot be closed yet, in sentences. What was written less than 2 minutes ago may be missing in the lists of open
 * orders, or still be on its way.
 */
const obstaclesToClosing = async (
  context: ActionContext,
  { account_id, status }: Account,
  { balance_kobo, updated_at, restricted_at = EPOCH }: Wallet,
): Promise<readonly string[]> => {
  const { ledger } = context;
  const open = (await openOrders(ledger, ALL_TIMES)).filter((order) => order.account_id === account_id);
  // After the open ones, because an order that was sent may begin to wait, and none of a restricted account is sent.
  const { accounts } = await readQueuedOrders(context, account_id);
  const queued = accounts.reduce((sum, { orders, counted }) => sum + Math.max(orders.length, counted), 0);
  const quietAt = Math.max(Date.parse(updated_at), Date.parse(restricted_at)) + INDEXED_AGE_MS;
  return [
    ...(status === "active" ? ["It is active: restrict it first."] : []),
    ...(balance_kobo === 0
      ? []
      : [
          `Its balance is ${koboMoneyText(balance_kobo)}: pay it out, and book that with wallet adjust and the id ${payoutId("<the bank's reference>")}.`,
        ]),
    ...(open.length === 0 ? [] : [`${open.length} of its orders are open: wait for their outcome, or resolve them.`]),
    ...(queued === 0 ? [] : [`${queued} of its orders are queued: wait until they are refunded, or resolve them.`]),
    ...(quietAt <= ledger.clock()
      ? []
      : [`It was restricted, or its balance changed, less than 2 minutes ago: try again after ${isoTime(quietAt)}.`]),
  ];
};

/** What two people decide needs a proposal. Without one, what is stored was lowered after `propose` had compared it. */
const assertNotRaised = ({ fourEyes, actor }: ActionContext, isRaised: boolean, changed: string): void => {
  if (fourEyes && actor().proposal === undefined && isRaised) throw new OperatorError(changed);
};

/**
 * Whether who is shown the account may do this read of it too. Not by `mayDo`, which would bring all actions into the bundle
 * of answer-subjects.
 */
const sees = (context: ActionContext, { roles }: Pick<Action, "roles">): boolean =>
  isForOwner(context) || context.request === undefined || context.request.roles.some((role) => roles.includes(role));

export const accountsRuns: ActionRuns<typeof accountsActions> = {
  "accounts list": async (context) => {
    const { ledger } = context;
    const accountIds = await accountIdsOf(ledger);
    const [accounts, wallets] = await Promise.all([
      readAccounts(context, accountIds, shownAccountSchema),
      getItems(ledger, accountIds.map(walletPk), walletSchema),
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
    const endpoints = await readEndpointStates(ledger, [account]);
    const webhooks = endpoints.map(({ id, name, url, status }) => ({ endpoint: id, name, url: shownUrl(url), status }));
    const [first] = webhooks;
    const limited = entitlementSchema.options.filter((each) => typeof entitlements[each] === "number");
    return {
      ...accountView(account),
      balance: nairaFromKobo(balance_kobo),
      low_balance_threshold: orNull(low_balance_threshold_kobo, nairaFromKobo),
      ...(owners.length > 0 && { owners }),
      entitlements,
      orders_today: Object.fromEntries(
        limited.map((each) => [each, ordersOnDay(wallet, each, dayInLagos(ledger.clock()))]),
      ),
      ...(account.duplicate_window_s !== undefined && { duplicate_window_s: account.duplicate_window_s }),
      ...(account.order_limits !== undefined && { order_limits: account.order_limits }),
      ...(hasPeriodLimit(account.order_limits) && { usage: usageView(context, wallet) }),
      ...(sees(context, whitelistActions["ips list"]) && { ips: account.whitelist }),
      ...(sees(context, keysActions["keys list"]) && { keys: account.keys.map((key) => keyView(key, ledger.clock())) }),
      webhook: first === undefined ? null : { url: first.url, status: first.status },
      webhooks,
    };
  },

  "accounts create": async (context, { name, why }) => {
    const store = audited(context, () => ({ action: "accounts create", why, details: { name } }));
    return accountView(await createAccount(store, { name, whitelist: [] }));
  },

  "accounts restrict": setStatus("restricted", "accounts restrict"),

  "accounts unrestrict": setStatus("active", "accounts unrestrict"),

  "accounts close": async (context, { account: accountId, why }) => {
    const { ledger, accounts } = context;
    const account = await requireAccount(accounts, accountId);
    if (account.status === "closed") return accountView(account);
    // The wallet first: a line that is booked after it was read has the write refused.
    const wallet = await readWallet(ledger, accountId);
    const obstacles = await obstaclesToClosing(context, account, wallet);
    if (obstacles.length > 0) {
      throw new OperatorError(`The account ${accountId} is not closed:\n${obstacles.join("\n")}`);
    }
    return accountView(
      await closeAccount(
        audited(context, () => ({ action: "accounts close", why })),
        wallet,
      ),
    );
  },

  "accounts reopen": async (context, { account, why }) => {
    const store = audited(context, () => ({ action: "accounts reopen", why }));
    return accountView(await reopenAccount(store, account));
  },

  "accounts entitle": async (context, { account, entitlements, before, why }) => {
    const { entitlements: stored } = await requireAccount(context.accounts, account);
    assertNotRaised(context, raisesEntitlements(stored, entitlements), ENTITLEMENTS_CHANGED);
    const details = { entitlements: entitlementsText(entitlements) };
    const store = audited(context, () => ({ action: "accounts entitle", why, details }));
    const changed = await setEntitlements(store, account, entitlements, before ?? stored);
    return { account_id: account, entitlements: changed.entitlements };
  },

  "accounts duplicates": async (context, { account, window_s, before, why }) => {
    const windowS = window_s === 0 ? undefined : window_s;
    const details = { window_s };
    const store = audited(context, () => ({ action: "accounts duplicates", why, details }));
    const { duplicate_window_s } = await setDuplicateWindow(store, account, windowS, before);
    return { account_id: account, ...(duplicate_window_s !== undefined && { duplicate_window_s }) };
  },

  "accounts limits": async (context, { account, limits, before, why }) => {
    const { order_limits: stored = {} } = await requireAccount(context.accounts, account);
    assertNotRaised(context, raisesLimits(stored, limits), LIMITS_CHANGED);
    const details = { limits: orderLimitsText(limits) };
    const store = audited(context, () => ({ action: "accounts limits", why, details }));
    const { order_limits = {} } = await setAccountLimits(store, account, limits, before ?? stored);
    return { account_id: account, order_limits };
  },

  "accounts owners": async (context, { account, owners, before, why }) => {
    const { owners: stored } = await requireAccount(context.accounts, account);
    const wanted = owners.map(ownerText);
    // Who is removed reads the account's log no more: its entry must name them.
    const removed = stored.map(ownerText).filter((each) => !wanted.includes(each));
    const details = { owners: wanted.join(" "), ...(removed.length > 0 && { removed: removed.join(" ") }) };
    const store = audited(context, () => ({ action: "accounts owners", why, details }));
    return { account_id: account, owners: (await setOwners(store, account, owners, before ?? stored)).owners };
  },
};
