import type { LimitedBy, OrderLimits } from "../contract/order-limits.ts";
import type { Entitlements } from "../contract/permission.ts";
import { formatIpRange, type IpRange, parseIpRange } from "../platform/ip-range.ts";
import { isoTime } from "../platform/time.ts";
import { type Account, AccountError, type AccountStore, type KeyWrite } from "./account-store.ts";
import type { KeyItem } from "./key-store.ts";

export type AccountKey = Account["keys"][number];

/** The most entries of a whitelist that keep a key's item below one write unit. */
const WHITELIST_ENTRIES_MAX = 20;

/** A key past its end may still be admitted by a machine with another clock, so it is updated for another day. */
const CLOCK_SKEW_MS_MAX = 24 * 3_600_000;

/** Revoked, or past its end on every clock. */
export const isInactive = ({ status, expires_at }: AccountKey, nowMs: number): boolean =>
  status === "revoked" || (expires_at !== undefined && nowMs >= Date.parse(expires_at) + CLOCK_SKEW_MS_MAX);

export const keyPut = ({ accessTable }: AccountStore, account: Account, key: AccountKey): KeyWrite => ({
  keyId: key.key_id,
  write: {
    Put: { TableName: accessTable, Item: newKeyItem(account, key), ConditionExpression: "attribute_not_exists(pk)" },
  },
  whenRefused: "fail",
});

/** An update of an existing key's item. It names only the fields that it changes. */
type KeyUpdate = {
  readonly expression: string;
  readonly condition?: string;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>>;
};

const keyUpdate = (
  { accessTable }: AccountStore,
  { key_id: keyId, hash }: Pick<AccountKey, "key_id" | "hash">,
  { expression, condition, names, values }: KeyUpdate,
  whenRefused: KeyWrite["whenRefused"],
): KeyWrite => ({
  keyId,
  write: {
    Update: {
      TableName: accessTable,
      Key: { pk: hash },
      UpdateExpression: expression,
      ConditionExpression: `attribute_exists(pk)${condition === undefined ? "" : ` AND ${condition}`}`,
      ExpressionAttributeNames: names,
      // DynamoDB refuses an empty object here.
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    },
  },
  whenRefused,
});

/** The account's status on a key's item. */
export const accountStatusUpdate = (
  store: AccountStore,
  key: AccountKey,
  status: Account["status"],
  whenRefused: KeyWrite["whenRefused"],
): KeyWrite =>
  keyUpdate(
    store,
    key,
    {
      expression: "SET #account_status = :status",
      names: { "#account_status": "account_status" },
      values: { ":status": status },
    },
    whenRefused,
  );

/** The account's entitlements on a key's item. A missing item is no obstacle: its key is refused. */
export const entitlementsUpdate = (store: AccountStore, key: AccountKey, entitlements: Entitlements): KeyWrite =>
  keyUpdate(
    store,
    key,
    {
      expression: "SET #entitlements = :entitlements",
      names: { "#entitlements": "entitlements" },
      values: { ":entitlements": entitlements },
    },
    "skip",
  );

/** The version of the account's price rules on a key's item. */
export const priceListUpdate = (store: AccountStore, key: AccountKey, version: number): KeyWrite =>
  keyUpdate(
    store,
    key,
    {
      expression: "SET #price_list = :price_list",
      names: { "#price_list": "price_list" },
      values: { ":price_list": version },
    },
    "skip",
  );

/** The account's window for duplicates on a key's item. */
export const duplicateWindowUpdate = (store: AccountStore, key: AccountKey, windowS: number | undefined): KeyWrite =>
  keyUpdate(
    store,
    key,
    {
      expression: windowS === undefined ? "REMOVE #duplicate_window_s" : "SET #duplicate_window_s = :window",
      names: { "#duplicate_window_s": "duplicate_window_s" },
      values: { ...(windowS !== undefined && { ":window": windowS }) },
    },
    "skip",
  );

/** The limits of the account or of the key itself on a key's item. */
export const limitsUpdate = (
  store: AccountStore,
  key: AccountKey,
  by: LimitedBy,
  limits: OrderLimits | undefined,
): KeyWrite => {
  const name = `${by}_limits`;
  return keyUpdate(
    store,
    key,
    {
      expression: limits === undefined ? "REMOVE #limits" : "SET #limits = :limits",
      names: { "#limits": name },
      values: { ...(limits !== undefined && { ":limits": limits }) },
    },
    "skip",
  );
};

/** A change of a whitelist: replaced as a whole, or ranges added or removed. */
export type WhitelistChange =
  | { readonly kind: "replace" | "add" | "remove"; readonly ranges: readonly IpRange[] }
  | { readonly kind: "none" };

/** Adding or removing ranges keeps all other ranges of the key's item, even those that differ from the account's. */
export const whitelistUpdate = (
  store: AccountStore,
  key: AccountKey,
  change: Exclude<WhitelistChange, { kind: "none" }>,
  whenRefused: KeyWrite["whenRefused"],
): KeyWrite => {
  const names = { "#whitelist": "whitelist" };
  // DynamoDB has no empty sets.
  const update =
    change.ranges.length === 0
      ? { expression: "REMOVE #whitelist", names, values: {} }
      : {
          expression: `${{ replace: "SET", add: "ADD", remove: "DELETE" }[change.kind]} #whitelist ${change.kind === "replace" ? "= " : ""}:ranges`,
          names,
          values: { ":ranges": new Set(change.ranges) },
        };
  return keyUpdate(store, key, update, whenRefused);
};

/** Revokes a key for good. */
export const revocation = (store: AccountStore, key: Pick<AccountKey, "key_id" | "hash">): KeyWrite =>
  keyUpdate(
    store,
    key,
    { expression: "SET #status = :revoked", names: { "#status": "status" }, values: { ":revoked": "revoked" } },
    "skip",
  );

/** Sets a key's end, if its item is active and does not end earlier. */
export const expiryUpdate = (store: AccountStore, key: AccountKey, expiresAt: string): KeyWrite =>
  keyUpdate(
    store,
    key,
    {
      expression: "SET #expires_at = :expires_at",
      condition: "#status = :active AND (attribute_not_exists(#expires_at) OR #expires_at >= :expires_at)",
      names: { "#expires_at": "expires_at", "#status": "status" },
      values: { ":expires_at": expiresAt, ":active": "active" },
    },
    "fail",
  );

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
  const { expires_at, ...others } = wanted;
  const sets = Object.entries(others);
  const present = [...sets, ...Object.entries({ expires_at })].filter(([, value]) => value !== undefined);
  const absent = sets.filter(([, value]) => value === undefined).map(([name]) => `#${name}`);
  const isOpenEnded = "attribute_not_exists(#expires_at)";
  return keyUpdate(
    store,
    key,
    {
      expression: [
        `SET ${present.map(([name]) => `#${name} = :${name}`).join(", ")}`,
        ...(absent.length > 0 ? [`REMOVE ${absent.join(", ")}`] : []),
      ].join(" "),
      condition: `#status = :active AND ${
        expires_at === undefined ? isOpenEnded : `(${isOpenEnded} OR #expires_at >= :expires_at)`
      }`,
      names: {
        ...Object.fromEntries(sets.map(([name]) => [`#${name}`, name])),
        "#expires_at": "expires_at",
        "#status": "status",
      },
      values: { ...Object.fromEntries(present.map(([name, value]) => [`:${name}`, value])), ":active": "active" },
    },
    "fail",
  );
};

/** Revokes a key whose account is not in the ledger. */
export const orphanRevocation = (store: AccountStore, keyItem: KeyItem): KeyWrite =>
  keyUpdate(
    store,
    { key_id: keyItem.key_id, hash: keyItem.pk },
    {
      expression: "SET #status = :revoked, #account_status = :restricted",
      names: { "#status": "status", "#account_status": "account_status" },
      values: { ":revoked": "revoked", ":restricted": "restricted" },
    },
    "skip",
  );

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

/** A whitelist as keys' items hold it; throws an AccountError at the first invalid entry. */
export const whitelistRanges = (entries: readonly string[]): IpRange[] => {
  if (entries.length > WHITELIST_ENTRIES_MAX) {
    throw new AccountError(`A whitelist has at most ${WHITELIST_ENTRIES_MAX} entries; this one has ${entries.length}`);
  }
  const ranges = entries.map((entry) => {
    const range = parseIpRange(entry);
    if (range === undefined) throw new AccountError(`"${entry}" is no IP address or CIDR range`);
    return range;
  });
  // Two spellings of one range are the same member of the set.
  return [...new Map(ranges.map((range) => [formatIpRange(range), range])).values()];
};
