import { isDeepStrictEqual } from "node:util";
import { type Account, accountSchema } from "../../../shared/access/account-store.ts";
import { type AccountKey, earlierExpiry } from "../../../shared/access/key-item.ts";
import { compareWith, type Step, unchanged } from "./compare.ts";

/** A key as the later account has it. */
const mergeKeys = (later: AccountKey, other: AccountKey): AccountKey => {
  const expiresAt = earlierExpiry(later.expires_at, other.expires_at);
  const isRevoked = later.status === "revoked" || other.status === "revoked";
  return {
    ...later,
    status: isRevoked ? "revoked" : "active",
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
  };
};

/** All keys of both: revoked if either is, with the earlier expiry. */
const mergeKeyLists = (restored: Account, old: Account): AccountKey[] => {
  const known = new Set(restored.keys.map(({ key_id }) => key_id));
  return [
    ...restored.keys.map((key) => {
      const other = old.keys.find(({ key_id }) => key_id === key.key_id);
      if (other === undefined) return key;
      return old.version > restored.version ? mergeKeys(other, key) : mergeKeys(key, other);
    }),
    ...old.keys.filter(({ key_id }) => !known.has(key_id)),
  ];
};

/**
 * Addresses, name, limits, endpoints, owners and price rules of the later version; keys and restriction of the stricter
 * one. An account is closed if the old ledger has it so: one that was reopened there may have lines that the restored
 * one lacks.
 */
export const compareAccount = compareWith(accountSchema, ({ old, restored }, oldItem, restoredItem): Step => {
  const isOldNewer = old.version > restored.version;
  const isActive = old.status === "active" && restored.status === "active";
  const status = isActive ? "active" : old.status === "closed" ? "closed" : "restricted";
  const merged = {
    ...(isOldNewer ? oldItem : restoredItem),
    status,
    keys: mergeKeyLists(restored, old),
    // Deliveries of both ledgers name their endpoints, so an id is never used again.
    endpoints_made: Math.max(old.endpoints_made, restored.endpoints_made),
  };
  const note =
    old.status === restored.status
      ? {}
      : {
          note: `${restored.account_id} is ${old.status} in the old ledger and ${restored.status} here: it is ${status} now`,
        };
  if (isDeepStrictEqual({ ...merged, version: 0 }, { ...restoredItem, version: 0 }))
    return { kind: "present", ...note };
  return {
    kind: "update",
    item: { ...merged, version: Math.max(old.version, restored.version) + 1 },
    when: unchanged(restoredItem, ["version"]),
    ...note,
  };
});
