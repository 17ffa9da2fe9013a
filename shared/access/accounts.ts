import { randomBytes } from "node:crypto";
import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { Permission } from "../contract/routes.ts";
import type { Mode } from "../contract/transaction.ts";
import { isoTime, systemClock } from "../platform/time.ts";
import { emptyWallet, type WalletRow } from "../wallet/wallet.ts";
import {
  AccountError,
  type AccountRow,
  type AccountStore,
  accountPk,
  auditWrites,
  changeAccount,
  requireAccount,
} from "./account-store.ts";
import { keyHash, newApiKey } from "./api-key.ts";
import { isDead, type Key, keyPut, keyUpdate, whitelistRanges } from "./key-item.ts";

/** New keys may buy and verify; finding a person by phone number is granted by name. */
export const defaultPermissions: readonly Permission[] = ["vtu", "identity"];

/** Account and active keys change in one transaction, which has room for 100 items. */
const ACTIVE_KEYS_MAX = 50;

const newId = (prefix: string): string => `${prefix}_${randomBytes(9).toString("hex")}`;

/** Makes an account with an empty wallet and without keys. `whitelist` holds addresses and CIDR ranges; an empty one lets nobody in. */
export const createAccount = async (
  store: AccountStore,
  account: { readonly name: string; readonly whitelist: readonly string[] },
): Promise<AccountRow> => {
  const { db, ledgerTable, clock = systemClock } = store;
  whitelistRanges(account.whitelist);
  const account_id = newId("acc");
  const row: AccountRow = {
    pk: accountPk(account_id),
    account_id,
    name: account.name,
    status: "active",
    whitelist: [...account.whitelist],
    keys: [],
    version: 1,
    owner: "accounts",
    created_at: isoTime(clock()),
  };
  const put = (Item: AccountRow | WalletRow) => ({
    Put: { TableName: ledgerTable, Item, ConditionExpression: "attribute_not_exists(pk)" },
  });
  const items = [put(row), put(emptyWallet(account_id, clock())), ...auditWrites(store, row)];
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
  overlap_ms: number,
): Promise<NewKey & { readonly expiresAt: string }> => {
  const now_ms = nowOf(store);
  const ends = isoTime(now_ms + overlap_ms);
  const before = requireKey(await requireAccount(store, accountId), keyId);
  const { key, entry } = newKey(before.mode, before.permissions, now_ms);
  const changed = await changeAccount(
    store,
    accountId,
    (account) => {
      const old = requireKey(account, keyId);
      if (isDead(old, now_ms)) throw new AccountError(`The key ${keyId} has ended: make a new one instead`);
      const expires_at = old.expires_at !== undefined && old.expires_at < ends ? old.expires_at : ends;
      const keys = account.keys.map((other) => (other.key_id === keyId ? { ...other, expires_at } : other));
      return withKey({ ...account, keys }, entry, now_ms);
    },
    (account) => [keyPut(store, account, entry), keyUpdate(store, account, requireKey(account, keyId))],
  );
  return { key, keyId: entry.key_id, expiresAt: requireKey(changed, keyId).expires_at ?? ends };
};

/** A revoked key is refused from the next request on. Revoking it again changes nothing. */
export const revokeKey = async (store: AccountStore, accountId: string, keyId: string): Promise<void> => {
  await changeAccount(
    store,
    accountId,
    (account) => {
      if (requireKey(account, keyId).status === "revoked") return undefined;
      const keys = account.keys.map((key) => (key.key_id === keyId ? { ...key, status: "revoked" as const } : key));
      return { ...account, keys };
    },
    (changed) => [keyUpdate(store, changed, requireKey(changed, keyId))],
  );
};

/** Restricts an account or lifts that; all its keys follow in the same transaction. */
export const setAccountStatus = (
  store: AccountStore,
  accountId: string,
  status: AccountRow["status"],
): Promise<AccountRow> =>
  changeWithKeys(store, accountId, (account) => (account.status === status ? undefined : { ...account, status }));

/** Replaces an account's whitelist; all its keys follow in the same transaction. */
export const setWhitelist = (
  store: AccountStore,
  accountId: string,
  whitelist: readonly string[],
): Promise<AccountRow> => changeWhitelist(store, accountId, () => whitelist);

/** Changes an account's whitelist, as it stands; undefined means that there is nothing to change. */
export const changeWhitelist = (
  store: AccountStore,
  accountId: string,
  change: (whitelist: readonly string[]) => readonly string[] | undefined,
): Promise<AccountRow> =>
  changeWithKeys(store, accountId, (account) => {
    const whitelist = change(account.whitelist);
    if (whitelist === undefined) return undefined;
    whitelistRanges(whitelist);
    return { ...account, whitelist: [...whitelist] };
  });

/**
 * Changes the account and what its keys copy from it: status, whitelist and permissions. Counters stay untouched, and so do keys
 * that have ended: they are refused whatever else they say.
 */
const changeWithKeys = (
  store: AccountStore,
  accountId: string,
  change: (account: AccountRow) => AccountRow | undefined,
): Promise<AccountRow> =>
  changeAccount(store, accountId, change, (changed) =>
    changed.keys.filter((key) => !isDead(key, nowOf(store))).map((key) => keyUpdate(store, changed, key)),
  );

const nowOf = ({ clock = systemClock }: AccountStore): number => clock();

const requireKey = (account: AccountRow, keyId: string): Key => {
  const key = account.keys.find(({ key_id }) => key_id === keyId);
  if (key === undefined) throw new AccountError(`Account ${account.account_id} has no key ${keyId}`);
  return key;
};

const newKey = (mode: Mode, permissions: readonly Permission[], now_ms: number) => {
  const key = newApiKey(mode);
  const entry: Key = {
    key_id: newId("key"),
    hash: keyHash(key),
    mode,
    status: "active",
    permissions: [...permissions],
    created_at: isoTime(now_ms),
  };
  return { key, entry };
};

const withKey = (account: AccountRow, entry: Key, now_ms: number): AccountRow => {
  if (account.keys.filter((key) => !isDead(key, now_ms)).length >= ACTIVE_KEYS_MAX) {
    const { account_id } = account;
    throw new AccountError(
      `Account ${account_id} has ${ACTIVE_KEYS_MAX} active keys: revoke one before making another`,
    );
  }
  return { ...account, keys: [...account.keys, entry] };
};
