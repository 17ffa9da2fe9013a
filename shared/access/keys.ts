import type { OrderLimits } from "../contract/order-limits.ts";
import { allows, defaultPermissions, notEntitled, type Permission } from "../contract/permission.ts";
import type { Mode } from "../contract/transaction.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { isoTime } from "../platform/time.ts";
import {
  type Account,
  type AccountStore,
  changeAccount,
  changeAnyAccount,
  type KeyWrite,
  newId,
  nowOf,
  requireAccount,
} from "./account-store.ts";
import { isRepetition, LIMITS_CHANGED, limitsField } from "./accounts.ts";
import { hashApiKey, newApiKey } from "./api-key.ts";
import { checksumKeyOf } from "./checksum-key.ts";
import {
  type AccountKey,
  addAsRevoked,
  expiryUpdate,
  fieldsUpdate,
  isInactive,
  keyPut,
  revocation,
} from "./key-item.ts";
import type { KeyItem } from "./key-store.ts";

/** An account and its active keys change in one transaction, which takes 100 items. */
const ACTIVE_KEYS_MAX = 50;

/**
 * An account's item has its keys, and reviews read those of all accounts: beyond this number the one that was made first leaves
 * the list.
 */
const INACTIVE_KEYS_LISTED = 20;

/** How the id of a key begins. */
export const KEY_ID_START = "key_";

/**
 * Creates a key, by default with the permissions that its account's entitlements allow. The returned key is the only
 * copy: the tables keep its hash and its last four characters. `by`: who makes it, as the audit log names them.
 */
export const createKey = async (
  store: AccountStore,
  accountId: string,
  options: {
    readonly mode: Mode;
    readonly permissions?: readonly Permission[];
    readonly name?: string | undefined;
    readonly by?: string;
  },
): Promise<NewKey & { readonly name: string; readonly permissions: readonly Permission[] }> => {
  const permissions = options.permissions ?? defaultPermissions((await requireAccount(store, accountId)).entitlements);
  const { mode, name = mode === "live" ? "Live key" : "Test key", by } = options;
  const { key, accountKey } = await newKey(store, { mode, permissions, name, by });
  await changeAccount(
    store,
    accountId,
    (account) => withKey(account, accountKey, nowOf(store)),
    (changed, before) => [keyPut(store, changed, accountKey), ...unlistedRevocations(store, changed, before)],
  );
  return { key, keyId: accountKey.key_id, name, permissions };
};

export type NewKey = { readonly key: string; readonly keyId: string };

/**
 * Creates a key with the name, mode and limits of another one, and those of its permissions to which the account is still
 * entitled. The old key expires at the end of the overlap or earlier. `assertMayRotate` refuses the old key as it is when
 * it is replaced: another person may have rotated it since it was read.
 */
export const rotateKey = async (
  store: AccountStore,
  accountId: string,
  keyId: string,
  overlapMs: number,
  by?: string,
  assertMayRotate: (old: AccountKey) => void = () => {},
): Promise<NewKey & { readonly expiresAt: string }> => {
  const nowMs = nowOf(store);
  const overlapEnd = isoTime(nowMs + overlapMs);
  const { mode, name } = requireKey(await requireAccount(store, accountId), keyId);
  const { key, accountKey } = await newKey(store, { mode, name, permissions: [], by });
  const changed = await changeAccount(
    store,
    accountId,
    (account) => {
      const old = requireKey(account, keyId);
      assertMayRotate(old);
      if (isInactive(old, nowMs)) throw new OperatorError(`The key ${keyId} has ended: create a new one instead`);
      const expiresAt = old.expires_at !== undefined && old.expires_at < overlapEnd ? old.expires_at : overlapEnd;
      const keys = account.keys.map((other) => (other.key_id === keyId ? { ...other, expires_at: expiresAt } : other));
      // Of the account that is replaced: another person may have lowered either since the one above was read.
      const permissions = old.permissions.filter((each) => allows(account.entitlements, each));
      const replacement = { ...accountKey, permissions, ...limitsField(old.order_limits ?? {}) };
      return withKey({ ...account, keys }, replacement, nowMs);
    },
    (account, before) => {
      const old = requireKey(account, keyId);
      return [
        keyPut(store, account, requireKey(account, accountKey.key_id)),
        expiryUpdate(store, old, old.expires_at ?? overlapEnd),
        ...unlistedRevocations(store, account, before),
      ];
    },
  );
  return { key, keyId: accountKey.key_id, expiresAt: requireKey(changed, keyId).expires_at ?? overlapEnd };
};

/**
 * Revokes a key: it is refused from the next request on. The key's item is written even if the ledger has the key as
 * revoked, because either table may have been restored.
 */
export const revokeKey = async (store: AccountStore, accountId: string, keyId: string): Promise<void> => {
  await changeAnyAccount(
    store,
    accountId,
    (account) => {
      const keys = account.keys.map((key) => (key.key_id === keyId ? { ...key, status: "revoked" as const } : key));
      return { ...account, keys };
    },
    (changed) => [revocation(store, requireKey(changed, keyId))],
  );
};

/** Revokes a key that is missing from its account's list, and adds it there as revoked. */
export const revokeUnlistedKey = async (store: AccountStore, keyItem: KeyItem): Promise<void> => {
  await changeAnyAccount(
    store,
    keyItem.account_id,
    (account) => ({ ...account, keys: addAsRevoked(account.keys, keyItem, nowOf(store)) }),
    () => [revocation(store, { key_id: keyItem.key_id, hash: keyItem.pk })],
  );
};

/** Sets what the live orders with one key may be at most, as `setAccountLimits` does for its account. */
export const setKeyLimits = (
  store: AccountStore,
  accountId: string,
  keyId: string,
  limits: OrderLimits,
  before?: OrderLimits,
): Promise<Account> =>
  changeAccount(
    store,
    accountId,
    (account) => {
      const { order_limits = {}, ...key } = requireKey(account, keyId);
      if (isRepetition(order_limits, limits, before, LIMITS_CHANGED)) return undefined;
      const changed = { ...key, ...limitsField(limits) };
      return { ...account, keys: account.keys.map((each) => (each.key_id === keyId ? changed : each)) };
    },
    (account) => {
      const key = requireKey(account, keyId);
      return [fieldsUpdate(store, key, { key_limits: key.order_limits })];
    },
  );

const requireKey = (account: Account, keyId: string): AccountKey => {
  const key = account.keys.find(({ key_id }) => key_id === keyId);
  if (key === undefined) throw new OperatorError(`Account ${account.account_id} has no key ${keyId}`);
  return key;
};

type KeyOptions = Pick<AccountKey, "mode" | "name"> & {
  readonly permissions: readonly Permission[];
  readonly by: string | undefined;
};

const newKey = async (store: AccountStore, { mode, permissions, name, by }: KeyOptions) => {
  const key = newApiKey(mode, await checksumKeyOf(store.checksumKey));
  const accountKey: AccountKey = {
    key_id: newId(KEY_ID_START),
    hash: hashApiKey(key),
    name,
    last_four: key.slice(-4),
    mode,
    status: "active",
    permissions: [...permissions],
    created_at: isoTime(nowOf(store)),
    ...(by !== undefined && { created_by: by }),
  };
  return { key, accountKey };
};

const withKey = (account: Account, accountKey: AccountKey, nowMs: number): Account => {
  const beyond = accountKey.permissions.filter((each) => !allows(account.entitlements, each));
  if (beyond.length > 0) throw new OperatorError(notEntitled(beyond), { field: "permissions" });
  if (account.keys.filter((key) => !isInactive(key, nowMs)).length >= ACTIVE_KEYS_MAX) {
    const { account_id } = account;
    throw new OperatorError(
      `Account ${account_id} has ${ACTIVE_KEYS_MAX} active keys: revoke one before creating another`,
    );
  }
  return { ...account, keys: [...listedKeys(account.keys, nowMs), accountKey] };
};

const listedKeys = (keys: readonly AccountKey[], nowMs: number): AccountKey[] => {
  const inactive = keys.filter((key) => isInactive(key, nowMs));
  const unlisted = new Set(inactive.slice(0, -INACTIVE_KEYS_LISTED));
  return keys.filter((key) => !unlisted.has(key));
};

/** A key that leaves its account's list is revoked, not only past its end: nothing then has to be reconciled. */
const unlistedRevocations = (store: AccountStore, changed: Account, before: Account): KeyWrite[] => {
  const listed = new Set(changed.keys.map(({ key_id }) => key_id));
  return before.keys.filter(({ key_id }) => !listed.has(key_id)).map((key) => revocation(store, key));
};
