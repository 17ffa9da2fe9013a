import { formatIpRange, type IpRange, parseIpRange } from "../platform/ip-range.ts";
import { AccountError, type AccountRow, type AccountStore } from "./account-store.ts";
import type { KeyRow } from "./key-store.ts";

export type Key = AccountRow["keys"][number];

/** Entries of an account's whitelist; so many keep a key's item below one write unit. */
const WHITELIST_ENTRIES_MAX = 20;

/** Clocks differ: a key that ended a moment ago may still be admitted elsewhere, and follows its account for another day. */
const CLOCKS_DIFFER_MS_MAX = 24 * 3_600_000;

export const isDead = ({ status, expires_at }: Key, now_ms: number): boolean =>
  status === "revoked" || (expires_at !== undefined && now_ms >= Date.parse(expires_at) + CLOCKS_DIFFER_MS_MAX);

export const keyPut = ({ accessTable }: AccountStore, account: AccountRow, key: Key) => ({
  Put: { TableName: accessTable, Item: keyItem(account, key), ConditionExpression: "attribute_not_exists(pk)" },
});

/** Brings everything but the counters of a key's item up to its account. */
export const keyUpdate = ({ accessTable }: AccountStore, account: AccountRow, key: Key) => {
  const { account_status, status, permissions, whitelist, expires_at } = keyItem(account, key);
  const sets = { account_status, status, permissions, whitelist, expires_at };
  const present = Object.entries(sets).filter(([, value]) => value !== undefined);
  const absent = Object.entries(sets).filter(([, value]) => value === undefined);
  return {
    Update: {
      TableName: accessTable,
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
};

const keyItem = (account: AccountRow, key: Key): KeyRow => {
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
    whitelist: ranges.length > 0 ? new Set(ranges) : undefined,
  };
};

/** A whitelist as the keys keep it; throws at the first entry that is no range. */
export const whitelistRanges = (entries: readonly string[]): IpRange[] => {
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
