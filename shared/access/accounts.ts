import { randomBytes } from "node:crypto";
import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { Permission } from "../contract/routes.ts";
import type { Mode } from "../contract/transaction.ts";
import { formatIpRange, type IpRange, parseIpRange } from "../platform/ip-range.ts";
import { isoTime, systemClock } from "../platform/time.ts";
import { emptyWallet, type WalletRow } from "../wallet/wallet.ts";
import {
  AccountError,
  type AccountRow,
  type AccountStore,
  accountPk,
  replaceAccount,
  requireAccount,
} from "./account-store.ts";
import { keyHash, newApiKey } from "./api-key.ts";
import type { KeyRow } from "./key-store.ts";

/** New keys may buy and verify; finding a person by phone number is granted by name. */
export const defaultPermissions: readonly Permission[] = ["vtu", "identity"];

/** Entries of an account's whitelist; so many keep a key's item below one write unit. */
export const WHITELIST_ENTRIES_MAX = 20;

/** Account and active keys change in one transaction, which has room for 100 items. */
const ACTIVE_KEYS_MAX = 50;

const newId = (prefix: string): string => `${prefix}_${randomBytes(9).toString("hex")}`;

/** Makes an account with an empty wallet and without keys. `whitelist` holds addresses and CIDR ranges; an empty one lets nobody in. */
export const createAccount = async (
  { db, ledgerTable, clock = systemClock }: AccountStore,
  account: { readonly name: string; readonly whitelist: readonly string[] },
): Promise<AccountRow> => {
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
  await db.send(new TransactWriteCommand({ TransactItems: [put(row), put(emptyWallet(account_id, clock()))] }));
  return row;
};

/** Makes a key. The returned text is the only copy: the tables keep its hash. */
export const createKey = async (
  store: AccountStore,
  accountId: string,
  key: { readonly mode: Mode; readonly permissions?: readonly Permission[] },
): Promise<{ readonly key: string; readonly keyId: string }> => {
  const { accessTable, clock = systemClock } = store;
  const account = await requireAccount(store, accountId);
  if (account.keys.filter(({ status }) => status === "active").length >= ACTIVE_KEYS_MAX) {
    throw new AccountError(`Account ${accountId} has ${ACTIVE_KEYS_MAX} active keys: revoke one before making another`);
  }
  const text = newApiKey(key.mode);
  const entry: AccountRow["keys"][number] = {
    key_id: newId("key"),
    hash: keyHash(text),
    mode: key.mode,
    status: "active",
    permissions: [...(key.permissions ?? defaultPermissions)],
    created_at: isoTime(clock()),
  };
  const changed = { ...account, keys: [...account.keys, entry] };
  await replaceAccount(store, changed, [
    {
      Put: {
        TableName: accessTable,
        Item: keyItem(changed, entry),
        ConditionExpression: "attribute_not_exists(pk)",
      },
    },
  ]);
  return { key: text, keyId: entry.key_id };
};

/** A revoked key is refused from the next request on. Revoking it again changes nothing. */
export const revokeKey = async (store: AccountStore, accountId: string, keyId: string): Promise<void> => {
  const account = await requireAccount(store, accountId);
  if (!account.keys.some((key) => key.key_id === keyId)) {
    throw new AccountError(`Account ${accountId} has no key ${keyId}`);
  }
  const keys = account.keys.map((key) => (key.key_id === keyId ? { ...key, status: "revoked" as const } : key));
  await writeThrough(store, { ...account, keys }, keyId);
};

/** Restricts an account or lifts that; all its keys follow in the same transaction. */
export const setAccountStatus = async (
  store: AccountStore,
  accountId: string,
  status: AccountRow["status"],
): Promise<void> => writeThrough(store, { ...(await requireAccount(store, accountId)), status });

/** Replaces an account's whitelist; all its keys follow in the same transaction. */
export const setWhitelist = async (
  store: AccountStore,
  accountId: string,
  whitelist: readonly string[],
): Promise<void> => {
  whitelistRanges(whitelist);
  await writeThrough(store, { ...(await requireAccount(store, accountId)), whitelist: [...whitelist] });
};

/**
 * Writes the account and what its keys copy from it: status, whitelist and permissions. Counters stay untouched, and so do keys
 * that were `revoked` before: they are refused whatever else they say.
 */
const writeThrough = async (store: AccountStore, account: AccountRow, revoked?: string): Promise<void> => {
  const changed = account.keys.filter(({ key_id, status }) => status === "active" || key_id === revoked);
  const updates = changed.map((key) => {
    const { account_status, status, permissions, whitelist } = keyItem(account, key);
    const sets = { account_status, status, permissions, whitelist };
    const present = Object.entries(sets).filter(([, value]) => value !== undefined);
    const absent = Object.entries(sets).filter(([, value]) => value === undefined);
    return {
      Update: {
        TableName: store.accessTable,
        Key: { pk: key.hash },
        UpdateExpression: [
          `SET ${present.map(([name]) => `#${name} = :${name}`).join(", ")}`,
          ...(absent.length > 0 ? [`REMOVE ${absent.map(([name]) => `#${name}`).join(", ")}`] : []),
        ].join(" "),
        ConditionExpression: "attribute_exists(pk)",
        ExpressionAttributeNames: Object.fromEntries(Object.keys(sets).map((name) => [`#${name}`, name])),
        ExpressionAttributeValues: Object.fromEntries(present.map(([name, value]) => [`:${name}`, value])),
      },
    };
  });
  await replaceAccount(store, account, updates);
};

const keyItem = (account: AccountRow, key: AccountRow["keys"][number]): KeyRow => {
  const ranges = whitelistRanges(account.whitelist);
  return {
    pk: key.hash,
    key_id: key.key_id,
    account_id: account.account_id,
    account_status: account.status,
    mode: key.mode,
    status: key.status,
    // DynamoDB has no empty sets.
    permissions: key.permissions.length > 0 ? new Set(key.permissions) : undefined,
    whitelist: ranges.length > 0 ? new Set(ranges) : undefined,
  };
};

const whitelistRanges = (entries: readonly string[]): IpRange[] => {
  if (entries.length > WHITELIST_ENTRIES_MAX) {
    throw new AccountError(`A whitelist has at most ${WHITELIST_ENTRIES_MAX} entries; this one has ${entries.length}`);
  }
  const ranges = entries.map((entry) => {
    const range = parseIpRange(entry);
    if (range === undefined) throw new AccountError(`"${entry}" is no IP address or CIDR range`);
    return range;
  });
  // Two spellings of one range are one member of the key's set.
  return [...new Map(ranges.map((range) => [formatIpRange(range), range])).values()];
};
