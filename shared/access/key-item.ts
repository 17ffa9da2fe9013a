import { DAY_MS } from "../contract/values/durations.ts";
import { joinParts, setParts, type UpdateParts, updateOf } from "../ledger/update-parts.ts";
import type { IpRange } from "../platform/ip-address.ts";
import { formatIpRange, parseIpRange } from "../platform/ip-range.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { isoTime } from "../platform/time.ts";
import type { Account, AccountStore, KeyWrite } from "./account-store.ts";
import type { KeyItem } from "./key-store.ts";

export type AccountKey = Account["keys"][number];

/** The most entries of a whitelist that keep a key's item below one write unit. */
export const WHITELIST_ENTRIES_MAX = 20;

/** A key past its end may still be admitted by a machine with another clock, so it is updated for another day. */
const CLOCK_SKEW_MS_MAX = DAY_MS;

/** Revoked, or past its end on every clock. */
export const isInactive = ({ status, expires_at }: Pick<AccountKey, "status" | "expires_at">, nowMs: number): boolean =>
  status === "revoked" || (expires_at !== undefined && nowMs >= Date.parse(expires_at) + CLOCK_SKEW_MS_MAX);

export const keyPut = ({ accessTable }: AccountStore, account: Account, key: AccountKey): KeyWrite => ({
  keyId: key.key_id,
  write: {
    Put: { TableName: accessTable, Item: newKeyItem(account, key), ConditionExpression: "attribute_not_exists(pk)" },
  },
  whenRefused: "fail",
});

type KeyRef = Pick<AccountKey, "key_id" | "hash">;

const keyUpdate = (
  { accessTable }: AccountStore,
  { key_id: keyId, hash }: KeyRef,
  parts: UpdateParts,
  whenRefused: KeyWrite["whenRefused"],
): KeyWrite => ({
  keyId,
  write: {
    Update: {
      TableName: accessTable,
      Key: { pk: hash },
      ...updateOf({ conditions: ["attribute_exists(pk)"] }, parts),
    },
  },
  whenRefused,
});

type KeyFields = Partial<
  Pick<
    KeyItem,
    | "status"
    | "account_status"
    | "expires_at"
    | "permissions"
    | "entitlements"
    | "price_list"
    | "duplicate_window_s"
    | "account_limits"
    | "key_limits"
    | "whitelist"
  >
>;

/** Sets fields; one that is undefined is removed. */
const changeOf = (fields: KeyFields): UpdateParts =>
  setParts(
    fields,
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [name] : [])),
  );

/** Sets or removes fields of a key's item. With "skip" a missing item is no obstacle: its key is refused. */
export const fieldsUpdate = (
  store: AccountStore,
  key: KeyRef,
  fields: KeyFields,
  whenRefused: KeyWrite["whenRefused"] = "skip",
): KeyWrite => keyUpdate(store, key, changeOf(fields), whenRefused);

/** The same, if the item is active and does not end earlier than its new end. */
const activeUpdate = (store: AccountStore, key: KeyRef, fields: KeyFields): KeyWrite => {
  const isOpenEnded = "attribute_not_exists(#expires_at)";
  const isActive = {
    conditions: [
      "#status = :active",
      fields.expires_at === undefined ? isOpenEnded : `(${isOpenEnded} OR #expires_at >= :expires_at)`,
    ],
    names: { "#expires_at": "expires_at", "#status": "status" },
    values: { ":active": "active" },
  };
  return keyUpdate(store, key, joinParts(changeOf(fields), isActive), "fail");
};

/** A change of a whitelist: replaced as a whole, or ranges added or removed. */
export type WhitelistChange =
  | { readonly kind: "replace" | "add" | "remove"; readonly ranges: readonly IpRange[] }
  | { readonly kind: "none" };

/** Adding or removing ranges keeps all other ranges of the key's item, even those that differ from the account's. */
export const whitelistUpdate = (
  store: AccountStore,
  key: AccountKey,
  { kind, ranges }: Exclude<WhitelistChange, { kind: "none" }>,
  whenRefused: KeyWrite["whenRefused"],
): KeyWrite => {
  // DynamoDB has no empty sets.
  const whitelist = ranges.length === 0 ? undefined : new Set(ranges);
  if (kind === "replace") return fieldsUpdate(store, key, { whitelist }, whenRefused);
  const change = { [{ add: "adds", remove: "deletes" }[kind]]: ["whitelist :whitelist"] };
  return keyUpdate(store, key, { ...change, values: { ":whitelist": whitelist } }, whenRefused);
};

export const revocation = (store: AccountStore, key: KeyRef): KeyWrite =>
  fieldsUpdate(store, key, { status: "revoked" });

/** Sets a key's end, if its item is active and does not end earlier. */
export const expiryUpdate = (store: AccountStore, key: AccountKey, expires_at: string): KeyWrite =>
  activeUpdate(store, key, { expires_at });

/**
 * Sets the item of an active key to the result of a reconciliation. The reconciliation may have read an older state, so
 * the item must still be active and must not end earlier.
 */
export const keyRestriction = (store: AccountStore, account: Account, key: AccountKey): KeyWrite => {
  const {
    pk: _pk,
    key_id: _id,
    account_id: _account,
    mode: _mode,
    status: _status,
    ...wanted
  } = newKeyItem(account, key);
  return activeUpdate(store, key, wanted);
};

export const newKeyItem = (account: Account, key: AccountKey): KeyItem => {
  const ranges = whitelistRanges(account.whitelist);
  return {
    pk: key.hash,
    key_id: key.key_id,
    account_id: account.account_id,
    account_status: account.status,
    mode: key.mode,
    status: key.status,
    expires_at: key.expires_at,
    // DynamoDB has no empty sets.
    permissions: key.permissions.length > 0 ? new Set(key.permissions) : undefined,
    entitlements: account.entitlements,
    price_list: account.price_list?.version,
    duplicate_window_s: account.duplicate_window_s,
    account_limits: account.order_limits,
    key_limits: key.order_limits,
    whitelist: ranges.length > 0 ? new Set(ranges) : undefined,
  };
};

/** The earlier of two ends of a key; undefined means no end. */
export const earlierExpiry = (one: string | undefined, other: string | undefined): string | undefined =>
  one !== undefined && (other === undefined || one < other) ? one : other;

/** The account's keys with one that only the access table has, as revoked. */
export const addAsRevoked = (keys: readonly AccountKey[], keyItem: KeyItem, nowMs: number): AccountKey[] => {
  if (keys.some(({ hash }) => hash === keyItem.pk)) {
    return keys.map((key) => (key.hash === keyItem.pk ? { ...key, status: "revoked" } : key));
  }
  return [
    ...keys,
    {
      key_id: keyItem.key_id,
      hash: keyItem.pk,
      name: "Unlisted key",
      mode: keyItem.mode,
      status: "revoked",
      permissions: [...(keyItem.permissions ?? [])],
      // The access table has no time of creation.
      created_at: isoTime(nowMs),
      ...(keyItem.expires_at !== undefined && { expires_at: keyItem.expires_at }),
    },
  ];
};

/** A whitelist as keys' items hold it; throws an OperatorError at the first invalid entry. */
export const whitelistRanges = (entries: readonly string[]): IpRange[] => {
  if (entries.length > WHITELIST_ENTRIES_MAX) {
    throw new OperatorError(
      `A whitelist has at most ${WHITELIST_ENTRIES_MAX} entries; this one has ${entries.length}`,
      { field: "ranges" },
    );
  }
  const ranges = entries.map((entry) => {
    const range = parseIpRange(entry);
    if (range === undefined) throw new OperatorError(`"${entry}" is no IP address or CIDR range`, { field: "ranges" });
    return range;
  });
  // Two spellings of one range are the same member of the set.
  return [...new Map(ranges.map((range) => [formatIpRange(range), range])).values()];
};
