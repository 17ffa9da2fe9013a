import { isDeepStrictEqual } from "node:util";
import type { OrderLimits } from "../contract/order-limits.ts";
import { type Entitlements, INITIAL_ENTITLEMENTS } from "../contract/permission.ts";
import { ACCOUNTS_LIST, accountPk } from "../ledger/schema.ts";
import { operatorTransact, wasWritten } from "../ledger/transact.ts";
import { emptyWallet, type Wallet, walletClosing, walletReopening, walletRestriction } from "../ledger/wallet.ts";
import type { IpRange } from "../platform/ip-address.ts";
import { formatIpRange } from "../platform/ip-range.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { isoTime, systemClock } from "../platform/time.ts";
import type { PriceRule } from "../prices/price-rule.ts";
import {
  type Account,
  type AccountStore,
  auditWrites,
  changeAccount,
  changeAnyAccount,
  findAccount,
  newId,
  nowOf,
} from "./account-store.ts";
import {
  type AccountKey,
  fieldsUpdate,
  isInactive,
  revocation,
  type WhitelistChange,
  whitelistRanges,
  whitelistUpdate,
} from "./key-item.ts";

/** Creates an account with an empty wallet and no keys. An empty whitelist admits no request. */
export const createAccount = async (
  store: AccountStore,
  {
    name,
    whitelist,
    entitlements = INITIAL_ENTITLEMENTS,
  }: { readonly name: string; readonly whitelist: readonly string[]; readonly entitlements?: Entitlements },
): Promise<Account> => {
  const { ledgerTable, clock = systemClock } = store;
  whitelistRanges(whitelist);
  const accountId = newId("acc_");
  const account: Account = {
    pk: accountPk(accountId),
    account_id: accountId,
    name,
    status: "active",
    whitelist: [...whitelist],
    entitlements,
    keys: [],
    owners: [],
    endpoints: [],
    endpoints_made: 0,
    version: 1,
    list_key: ACCOUNTS_LIST,
    created_at: isoTime(clock()),
  };
  const put = (Item: Account | Wallet) => ({
    Put: { TableName: ledgerTable, Item, ConditionExpression: "attribute_not_exists(pk)" },
  });
  const items = [put(account), put(emptyWallet(accountId, clock())), ...auditWrites(store, account)];
  const result = await operatorTransact(store, items);
  // The person would make a second account.
  const isMade = result.kind === "written" || (await wasWritten(result, () => findAccount(store, accountId), account));
  if (!isMade) throw result.error;
  return account;
};

/**
 * Restricts or reactivates an account, together with its wallet and all its keys in the same transaction, also inactive
 * ones. From then on nothing is debited, and no queued order is claimed.
 */
export const setAccountStatus = (
  store: AccountStore,
  accountId: string,
  status: "active" | "restricted",
): Promise<Account> =>
  changeAccount(
    store,
    accountId,
    // A restriction is written even if the account is restricted, because a key's item may have been restored.
    (account) => (account.status === status && status === "active" ? undefined : { ...account, status }),
    ({ keys }) =>
      keysToUpdate(store, keys).map(([key, isActive]) =>
        fieldsUpdate(store, key, { account_status: status }, isActive && status === "active" ? "fail" : "skip"),
      ),
    [walletRestriction(store.ledgerTable, accountId, status === "restricted", nowOf(store))],
  );

/**
 * Closes an account with its wallet, revokes all its keys and switches its endpoints off, which ends their subscriptions.
 * Without effect if it is closed; refused if the wallet is not restricted and empty as it was read.
 */
export const closeAccount = (store: AccountStore, wallet: Wallet): Promise<Account> =>
  changeAnyAccount(
    store,
    wallet.account_id,
    (account) =>
      account.status === "closed"
        ? undefined
        : {
            ...account,
            status: "closed",
            keys: account.keys.map((key) => ({ ...key, status: "revoked" })),
            endpoints: account.endpoints.map((endpoint) => ({ ...endpoint, status: "off" })),
          },
    // Those that were active come first: the others are refused already.
    (_changed, before) => keysToUpdate(store, before.keys).map(([key]) => revocation(store, key)),
    [walletClosing(store.ledgerTable, wallet)],
  );

/** Makes a closed account a restricted one. Its keys stay revoked and its endpoints off. */
export const reopenAccount = (store: AccountStore, accountId: string): Promise<Account> =>
  changeAnyAccount(
    store,
    accountId,
    (account) => {
      if (account.status !== "closed") throw new OperatorError(`The account ${accountId} is not closed`);
      return { ...account, status: "restricted" };
    },
    undefined,
    [walletReopening(store.ledgerTable, accountId)],
  );

/**
 * Whether what the person saw has been replaced by what they want: they lost the answer and repeat the request. Throws
 * `changed` if it has been replaced by something else. `before`: what they saw, if that is known.
 */
export const isRepetition = <Value>(
  stored: Value,
  wanted: Value,
  before: Value | undefined,
  changed: string,
): boolean => {
  if (before === undefined || isDeepStrictEqual(stored, before)) return false;
  if (isDeepStrictEqual(stored, wanted)) return true;
  throw new OperatorError(changed);
};

export const ENTITLEMENTS_CHANGED = "Another person has changed what the account may do. Check it and try again";

/**
 * Replaces what an account may do. Its keys' items follow in the same transaction, so the next request of each key is
 * admitted or refused by the new entitlements; keys that are revoked or ended may follow later. `before`: what the
 * person saw. Others are not replaced, because they may allow less.
 */
export const setEntitlements = (
  store: AccountStore,
  accountId: string,
  entitlements: Entitlements,
  before?: Entitlements,
): Promise<Account> =>
  changeAccount(
    store,
    accountId,
    (account) => {
      if (isRepetition(account.entitlements, entitlements, before, ENTITLEMENTS_CHANGED)) return undefined;
      return { ...account, entitlements };
    },
    ({ keys }) => keysToUpdate(store, keys).map(([key]) => fieldsUpdate(store, key, { entitlements })),
  );

/**
 * Changes the price rules of an account, and the version on all its keys, in one transaction; keys that are revoked or
 * ended may follow later. `change` may be called several times, each time with the current account.
 */
export const changePriceRules = (
  store: AccountStore,
  accountId: string,
  change: (account: Account) => readonly PriceRule[],
): Promise<Account> => {
  const versionOf = ({ price_list }: Account): number => price_list?.version ?? 0;
  return changeAccount(
    store,
    accountId,
    (account) => ({ ...account, price_list: { version: versionOf(account) + 1, rules: [...change(account)] } }),
    (changed) =>
      keysToUpdate(store, changed.keys).map(([key]) => fieldsUpdate(store, key, { price_list: versionOf(changed) })),
  );
};

/**
 * Sets how long a purchase like an earlier one is refused, on the account and all its keys; undefined: none is. `beforeS`:
 * the window that the person saw, 0 for none. Another one is not replaced, because it may be longer.
 */
export const setDuplicateWindow = (
  store: AccountStore,
  accountId: string,
  windowS: number | undefined,
  beforeS?: number,
): Promise<Account> =>
  changeAccount(
    store,
    accountId,
    ({ duplicate_window_s: storedS = 0, ...account }) => {
      const changed = "Another person has changed the window for duplicates. Check it and try again";
      if (isRepetition(storedS, windowS ?? 0, beforeS, changed)) return undefined;
      return { ...account, ...(windowS !== undefined && { duplicate_window_s: windowS }) };
    },
    ({ keys }) => keysToUpdate(store, keys).map(([key]) => fieldsUpdate(store, key, { duplicate_window_s: windowS })),
  );

export const LIMITS_CHANGED = "Another person has changed the limits. Check them and try again";

/**
 * Sets what an account's live orders may be at most, on the account and all its keys; without entries there is no limit.
 * `before`: the limits that the person saw. Others are not replaced, because they may be lower.
 */
export const setAccountLimits = (
  store: AccountStore,
  accountId: string,
  limits: OrderLimits,
  before?: OrderLimits,
): Promise<Account> =>
  changeAccount(
    store,
    accountId,
    ({ order_limits = {}, ...account }) => {
      if (isRepetition(order_limits, limits, before, LIMITS_CHANGED)) return undefined;
      return { ...account, ...limitsField(limits) };
    },
    ({ keys, order_limits }) =>
      keysToUpdate(store, keys).map(([key]) => fieldsUpdate(store, key, { account_limits: order_limits })),
  );

/** The field of an account or a key with its limits; none without limits. */
export const limitsField = (limits: OrderLimits) => (Object.keys(limits).length === 0 ? {} : { order_limits: limits });

/**
 * Replaces the list of those who may manage an account in the console. Also for a closed account, whose owners keep read
 * access. `before`: the list that the operator saw. If it has changed since, nothing is replaced: a person who was removed
 * would be back.
 */
export const setOwners = (
  store: AccountStore,
  accountId: string,
  owners: Account["owners"],
  before?: Account["owners"],
): Promise<Account> =>
  changeAnyAccount(store, accountId, (account) => {
    const changed = "Another person has changed the owners. Check them and try again";
    const isAsWanted =
      isDeepStrictEqual(account.owners, owners) || isRepetition(account.owners, owners, before, changed);
    return isAsWanted ? undefined : { ...account, owners };
  });

/** Replaces the whitelist of an account and of all its keys in one transaction. */
export const setWhitelist = (store: AccountStore, accountId: string, whitelist: readonly string[]): Promise<Account> =>
  writeWhitelist(
    store,
    accountId,
    () => whitelist,
    (_before, after) => ({ kind: "replace", ranges: after }),
  );

/** Adds or removes ranges of an account's whitelist; `change` returns undefined if there is nothing to change. */
export const changeWhitelist = (
  store: AccountStore,
  accountId: string,
  change: (whitelist: readonly string[]) => readonly string[] | undefined,
): Promise<Account> => writeWhitelist(store, accountId, change, whitelistChange);

const writeWhitelist = (
  store: AccountStore,
  accountId: string,
  change: (whitelist: readonly string[]) => readonly string[] | undefined,
  changeOf: (before: readonly IpRange[], after: readonly IpRange[]) => WhitelistChange,
): Promise<Account> =>
  changeAccount(
    store,
    accountId,
    (account) => {
      const whitelist = change(account.whitelist);
      if (whitelist === undefined) return undefined;
      return { ...account, whitelist: [...whitelist] };
    },
    (changed, before) => {
      const difference = changeOf(whitelistRanges(before.whitelist), whitelistRanges(changed.whitelist));
      if (difference.kind === "none") return [];
      return keysToUpdate(store, changed.keys).map(([key, isActive]) =>
        whitelistUpdate(store, key, difference, isActive ? "fail" : "skip"),
      );
    },
  );

/** Added or removed ranges are written as such; a change with both replaces the whitelist. */
const whitelistChange = (before: readonly IpRange[], after: readonly IpRange[]): WhitelistChange => {
  const known = new Set(before.map(formatIpRange));
  const kept = new Set(after.map(formatIpRange));
  const added = after.filter((range) => !known.has(formatIpRange(range)));
  const removed = before.filter((range) => !kept.has(formatIpRange(range)));
  if (added.length > 0 && removed.length > 0) return { kind: "replace", ranges: after };
  if (added.length > 0) return { kind: "add", ranges: added };
  return removed.length > 0 ? { kind: "remove", ranges: removed } : { kind: "none" };
};

/** All keys of an account, the active ones first, each with whether it is active. */
const keysToUpdate = (
  store: AccountStore,
  keys: readonly AccountKey[],
): readonly (readonly [AccountKey, boolean])[] => {
  const nowMs = nowOf(store);
  const active = keys.filter((key) => !isInactive(key, nowMs));
  const inactive = keys.filter((key) => isInactive(key, nowMs));
  return [...active.map((key) => [key, true] as const), ...inactive.map((key) => [key, false] as const)];
};
