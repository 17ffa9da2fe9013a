import { randomBytes } from "node:crypto";
import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { Permission } from "../contract/routes.ts";
import type { Mode } from "../contract/transaction.ts";
import { ACCOUNTS_OWNER, accountPk } from "../ledger/schema.ts";
import { emptyWallet, type Wallet } from "../ledger/wallet.ts";
import { formatIpRange, type IpRange } from "../platform/ip-range.ts";
import { isoTime, systemClock } from "../platform/time.ts";
import {
  type Account,
  AccountError,
  type AccountStore,
  auditWrites,
  changeAccount,
  requireAccount,
} from "./account-store.ts";
import { keyHash, newApiKey } from "./api-key.ts";
import {
  accountStatusUpdate,
  expiryUpdate,
  isDead,
  type Key,
  keyPut,
  revocation,
  type WhitelistChange,
  whitelistRanges,
  whitelistUpdate,
  withUnlisted,
} from "./key-item.ts";
import type { KeyItem } from "./key-store.ts";

/** New keys may buy and verify; finding a person by phone number is granted by name. */
export const defaultPermissions: readonly Permission[] = ["vtu", "identity"];

/** Account and active keys change in one transaction, which has room for 100 items. */
const ACTIVE_KEYS_MAX = 50;

const newId = (prefix: string): string => `${prefix}_${randomBytes(9).toString("hex")}`;

/** Makes an account with an empty wallet and without keys. `whitelist` holds addresses and CIDR ranges; an empty one lets nobody in. */
export const createAccount = async (
  store: AccountStore,
  account: { readonly name: string; readonly whitelist: readonly string[] },
): Promise<Account> => {
  const { db, ledgerTable, clock = systemClock } = store;
  whitelistRanges(account.whitelist);
  const accountId = newId("acc");
  const row: Account = {
    pk: accountPk(accountId),
    account_id: accountId,
    name: account.name,
    status: "active",
    whitelist: [...account.whitelist],
    keys: [],
    version: 1,
    owner: ACCOUNTS_OWNER,
    created_at: isoTime(clock()),
  };
  const put = (Item: Account | Wallet) => ({
    Put: { TableName: ledgerTable, Item, ConditionExpression: "attribute_not_exists(pk)" },
  });
  const items = [put(row), put(emptyWallet(accountId, clock())), ...auditWrites(store, row)];
  await db.send(new TransactWriteCommand({ TransactItems: items }));
  return row;
};

/** Makes a key. The returned text is the only copy: the tables keep its hash. */
export const createKey = async (
  store: AccountStore,
  accountId: string,
  wish: { readonly mode: Mode; readonly permissions?: readonly Permission[] },
): Promise<NewKey> => {
  const { key, entry } = newKey(wish.mode, wish.permissions ?? defaultPermissions, nowOf(store));
  await changeAccount(
    store,
    accountId,
    (account) => withKey(account, entry, nowOf(store)),
    (changed) => [keyPut(store, changed, entry)],
  );
  return { key, keyId: entry.key_id };
};

export type NewKey = { readonly key: string; readonly keyId: string };

/**
 * Makes a key with the mode and the permissions of another, which stops by itself once the overlap is over: 401 from then on. An
 * overlap that runs already is only ever cut short.
 */
export const rotateKey = async (
  store: AccountStore,
  accountId: string,
  keyId: string,
  overlapMs: number,
): Promise<NewKey & { readonly expiresAt: string }> => {
  const nowMs = nowOf(store);
  const ends = isoTime(nowMs + overlapMs);
  const before = requireKey(await requireAccount(store, accountId), keyId);
  const { key, entry } = newKey(before.mode, before.permissions, nowMs);
  const changed = await changeAccount(
    store,
    accountId,
    (account) => {
      const old = requireKey(account, keyId);
      if (isDead(old, nowMs)) throw new AccountError(`The key ${keyId} has ended: make a new one instead`);
      const expiresAt = old.expires_at !== undefined && old.expires_at < ends ? old.expires_at : ends;
      const keys = account.keys.map((other) => (other.key_id === keyId ? { ...other, expires_at: expiresAt } : other));
      return withKey({ ...account, keys }, entry, nowMs);
    },
    (account) => {
      const old = requireKey(account, keyId);
      return [keyPut(store, account, entry), expiryUpdate(store, old, old.expires_at ?? ends)];
    },
  );
  return { key, keyId: entry.key_id, expiresAt: requireKey(changed, keyId).expires_at ?? ends };
};

/**
 * A revoked key is refused from the next request on. It is written also where the ledger says revoked already: the ledger may have
 * been restored, or the access table.
 */
export const revokeKey = async (store: AccountStore, accountId: string, keyId: string): Promise<void> => {
  await changeAccount(
    store,
    accountId,
    (account) => {
      requireKey(account, keyId);
      const keys = account.keys.map((key) => (key.key_id === keyId ? { ...key, status: "revoked" as const } : key));
      return { ...account, keys };
    },
    (changed) => [revocation(store, requireKey(changed, keyId))],
  );
};

/** Revokes a key that the access table has and its account's list lacks; from then on the account lists it, as revoked. */
export const revokeUnlistedKey = async (store: AccountStore, row: KeyItem): Promise<void> => {
  await changeAccount(
    store,
    row.account_id,
    (account) => ({ ...account, keys: withUnlisted(account.keys, row, nowOf(store)) }),
    () => [revocation(store, { key_id: row.key_id, hash: row.pk })],
  );
};

/** Restricts an account or lifts that; all its keys follow in the same transaction, those that have ended too. */
export const setAccountStatus = (store: AccountStore, accountId: string, status: Account["status"]): Promise<Account> =>
  changeAccount(
    store,
    accountId,
    // A restriction is written also where it stands already: a key's item may have been restored.
    (account) => (account.status === status && status === "active" ? undefined : { ...account, status }),
    ({ keys }) =>
      followers(store, keys).map(([key, isLive]) =>
        accountStatusUpdate(store, key, status, isLive && status === "active" ? "fail" : "skip"),
      ),
  );

/** Replaces an account's whitelist; all its keys follow in the same transaction. */
export const setWhitelist = (store: AccountStore, accountId: string, whitelist: readonly string[]): Promise<Account> =>
  writeWhitelist(
    store,
    accountId,
    () => whitelist,
    (_before, after) => ({ kind: "replace", ranges: after }),
  );

/** Adds ranges to an account's whitelist, or removes some; undefined means that there is nothing to change. */
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
      whitelistRanges(whitelist);
      return { ...account, whitelist: [...whitelist] };
    },
    (changed, before) => {
      const difference = changeOf(whitelistRanges(before.whitelist), whitelistRanges(changed.whitelist));
      if (difference.kind === "none") return [];
      return followers(store, changed.keys).map(([key, isLive]) =>
        whitelistUpdate(store, key, difference, isLive ? "fail" : "skip"),
      );
    },
  );

/** Ranges that only come, or only go, are written as such. */
const whitelistChange = (before: readonly IpRange[], after: readonly IpRange[]): WhitelistChange => {
  const known = new Set(before.map(formatIpRange));
  const kept = new Set(after.map(formatIpRange));
  const added = after.filter((range) => !known.has(formatIpRange(range)));
  const removed = before.filter((range) => !kept.has(formatIpRange(range)));
  if (added.length > 0 && removed.length > 0) return { kind: "replace", ranges: after };
  if (added.length > 0) return { kind: "add", ranges: added };
  return removed.length > 0 ? { kind: "remove", ranges: removed } : { kind: "none" };
};

/** All keys of an account, those first that may still be admitted, and whether each may. */
const followers = (store: AccountStore, keys: readonly Key[]): readonly (readonly [Key, boolean])[] => {
  const nowMs = nowOf(store);
  const live = keys.filter((key) => !isDead(key, nowMs));
  const dead = keys.filter((key) => isDead(key, nowMs));
  return [...live.map((key) => [key, true] as const), ...dead.map((key) => [key, false] as const)];
};

const nowOf = ({ clock = systemClock }: AccountStore): number => clock();

const requireKey = (account: Account, keyId: string): Key => {
  const key = account.keys.find(({ key_id }) => key_id === keyId);
  if (key === undefined) throw new AccountError(`Account ${account.account_id} has no key ${keyId}`);
  return key;
};

const newKey = (mode: Mode, permissions: readonly Permission[], nowMs: number) => {
  const key = newApiKey(mode);
  const entry: Key = {
    key_id: newId("key"),
    hash: keyHash(key),
    mode,
    status: "active",
    permissions: [...permissions],
    created_at: isoTime(nowMs),
  };
  return { key, entry };
};

const withKey = (account: Account, entry: Key, nowMs: number): Account => {
  if (account.keys.filter((key) => !isDead(key, nowMs)).length >= ACTIVE_KEYS_MAX) {
    const { account_id } = account;
    throw new AccountError(
      `Account ${account_id} has ${ACTIVE_KEYS_MAX} active keys: revoke one before making another`,
    );
  }
  return { ...account, keys: [...account.keys, entry] };
};
