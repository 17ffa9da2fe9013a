import { isDeepStrictEqual } from "node:util";
import { paginateScan } from "@aws-sdk/lib-dynamodb";
import * as z from "#zod";
import {
  type Account,
  type AccountStore,
  findAccount,
  KEY_WRITES_MAX,
  type KeyWrite,
  replaceAccount,
  requireAccount,
  retryUntilDone,
} from "../../shared/access/account-store.ts";
import { limitsField } from "../../shared/access/accounts.ts";
import {
  type AccountKey,
  addAsRevoked,
  earlierExpiry,
  isInactive,
  keyPut,
  keyRestriction,
  newKeyItem,
  revocation,
  WHITELIST_ENTRIES_MAX,
  whitelistRanges,
} from "../../shared/access/key-item.ts";
import { findKeys, type KeyItem, keyItemSchema } from "../../shared/access/key-store.ts";
import { lowerLimits, orderLimitsText, raisesLimits } from "../../shared/contract/order-limits.ts";
import { commonEntitlements, entitlementsText } from "../../shared/contract/permission.ts";
import type { AuditPut } from "../../shared/ledger/audit.ts";
import { accountIdsOf } from "../../shared/ledger/query-index.ts";
import { transactWithRetry } from "../../shared/ledger/transact.ts";
import { walletRestriction } from "../../shared/ledger/wallet.ts";
import type { WithSdk } from "../../shared/platform/aws/sdk.ts";
import type { IpRange } from "../../shared/platform/ip-address.ts";
import { commonRanges, formatIpRange } from "../../shared/platform/ip-range.ts";
import { systemClock } from "../../shared/platform/time.ts";

/** One difference between ledger and access table, and how it was or would be resolved. */
export type KeyDifference = {
  readonly account_id: string;
  /** Absent if the difference concerns the whole account. */
  readonly key_id?: string;
  readonly found:
    | "key_item_missing"
    | "key_not_listed"
    | "account_unknown"
    | "key_revoked_in_one"
    | "key_ends_sooner_in_one"
    | "key_item_differs"
    | "account_restricted_in_one"
    | "whitelist_narrower_in_one"
    | "entitled_to_less_in_one"
    | "limits_lower_in_one"
    | "duplicate_window_longer_in_one"
    /** An item of the key or of the account: nothing of the account was changed. */
    | "unreadable";
  /** The state after the reconciliation. */
  readonly result: string;
};

/**
 * The account on which both tables will agree, and the writes for that: the more restrictive value wins. `items` are all
 * items of the access table that belong to the account's keys or name the account.
 */
const planReconciliation = (store: AccountStore, before: Account, items: readonly KeyItem[]) => {
  const { account_id } = before;
  const nowMs = (store.clock ?? systemClock)();
  const findings: KeyDifference[] = [];
  const itemOf = new Map(items.map((item) => [item.pk, item]));
  const listed = new Set(before.keys.map(({ hash }) => hash));
  const keys = items
    // An account does not list all its former keys.
    .filter(({ pk, status }) => !listed.has(pk) && status !== "revoked")
    .reduce(
      (all, item) => addAsRevoked(all, item, nowMs),
      before.keys.map((key) => mergeKeyWithItem(key, itemOf.get(key.hash))),
    );
  const live = keys.filter((key) => !isInactive(key, nowMs)).flatMap(({ hash }) => itemOf.get(hash) ?? []);
  const status = live.some(({ account_status }) => account_status === "restricted") ? "restricted" : before.status;
  const entitlements = live.map((item) => item.entitlements).reduce(commonEntitlements, before.entitlements);
  const { order_limits: limitsBefore = {}, duplicate_window_s: windowBefore, ...others } = before;
  const limits = live.map((item) => item.account_limits ?? {}).reduce(lowerLimits, limitsBefore);
  const window = Math.max(windowBefore ?? 0, ...live.map((item) => item.duplicate_window_s ?? 0));
  const account = {
    ...others,
    keys,
    status,
    whitelist: intersectWhitelists(before.whitelist, live),
    entitlements,
    ...limitsField(limits),
    ...(window > 0 && { duplicate_window_s: window }),
  };

  if (status !== before.status) {
    findings.push({ account_id, found: "account_restricted_in_one", result: "restricted" });
  }
  if (
    account.whitelist.join() !== before.whitelist.join() ||
    live.some((item) => !hasWhitelist(item, account.whitelist))
  ) {
    findings.push({ account_id, found: "whitelist_narrower_in_one", result: account.whitelist.join(" ") || "nobody" });
  }
  if (!isDeepStrictEqual(account.entitlements, before.entitlements)) {
    findings.push({ account_id, found: "entitled_to_less_in_one", result: entitlementsText(account.entitlements) });
  }
  if (raisesLimits(limits, limitsBefore)) {
    findings.push({ account_id, found: "limits_lower_in_one", result: orderLimitsText(limits) });
  }
  if (window !== (windowBefore ?? 0)) {
    findings.push({ account_id, found: "duplicate_window_longer_in_one", result: `${window} s` });
  }
  const keyWrites: KeyWrite[] = [];
  for (const key of keys) {
    const item = itemOf.get(key.hash);
    const write = keyWriteFor(store, account, key, item);
    if (write !== undefined) keyWrites.push(write);
    const found = differenceOf(
      key,
      item,
      before.keys.find(({ hash }) => hash === key.hash),
      write !== undefined,
    );
    if (found !== undefined) findings.push({ account_id, key_id: key.key_id, found, result: describeKey(key) });
  }
  return { account, keyWrites, findings };
};

const mergeKeyWithItem = (key: AccountKey, item: KeyItem | undefined): AccountKey => {
  if (item === undefined) return key;
  const expiresAt = earlierExpiry(key.expires_at, item.expires_at);
  const { order_limits: limits = {}, ...others } = key;
  return {
    ...others,
    ...limitsField(lowerLimits(limits, item.key_limits ?? {})),
    status: item.status === "revoked" ? "revoked" : key.status,
    permissions: key.permissions.filter((permission) => item.permissions?.has(permission)),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
  };
};

/** Entries that stay keep the account's spelling. Two lists of many ranges may have more in common than one may have. */
const intersectWhitelists = (whitelist: readonly string[], items: readonly KeyItem[]): string[] => {
  const ranges = whitelistRanges(whitelist);
  const common = items.reduce<readonly IpRange[]>((some, item) => commonRanges(some, rangesOf(item)), ranges);
  const left = new Set(common.map(formatIpRange));
  const kept = whitelist.filter((entry) => whitelistRanges([entry]).some((range) => left.has(formatIpRange(range))));
  const known = new Set(whitelistRanges(kept).map(formatIpRange));
  return [...kept, ...[...left].filter((text) => !known.has(text))].slice(0, WHITELIST_ENTRIES_MAX);
};

const rangesOf = ({ whitelist }: KeyItem): readonly IpRange[] =>
  [...(whitelist ?? [])].map((range) => Uint8Array.from(range));

const hasWhitelist = (item: KeyItem, whitelist: readonly string[]): boolean =>
  sameMembers(rangesOf(item).map(formatIpRange), whitelistRanges(whitelist).map(formatIpRange));

const sameMembers = (some: Iterable<string>, others: Iterable<string>): boolean =>
  isDeepStrictEqual(new Set(some), new Set(others));

const keyWriteFor = (
  store: AccountStore,
  account: Account,
  key: AccountKey,
  item: KeyItem | undefined,
): KeyWrite | undefined => {
  if (item === undefined) return keyPut(store, account, key);
  // Of a revoked key only the status matters.
  if (key.status === "revoked") return item.status === "revoked" ? undefined : revocation(store, key);
  const wanted = newKeyItem(account, key);
  const isSame =
    item.status === wanted.status &&
    item.account_status === wanted.account_status &&
    item.expires_at === wanted.expires_at &&
    sameMembers(item.permissions ?? [], wanted.permissions ?? []) &&
    isDeepStrictEqual(item.entitlements, wanted.entitlements) &&
    item.price_list === wanted.price_list &&
    item.duplicate_window_s === wanted.duplicate_window_s &&
    isDeepStrictEqual(item.account_limits, wanted.account_limits) &&
    isDeepStrictEqual(item.key_limits, wanted.key_limits) &&
    hasWhitelist(item, account.whitelist);
  return isSame ? undefined : keyRestriction(store, account, key);
};

const differenceOf = (
  key: AccountKey,
  item: KeyItem | undefined,
  before: AccountKey | undefined,
  isWritten: boolean,
): KeyDifference["found"] | undefined => {
  if (before === undefined) return "key_not_listed";
  if (item === undefined) return "key_item_missing";
  if (before.status !== item.status) return "key_revoked_in_one";
  if (key.status === "revoked") return undefined;
  if (before.expires_at !== item.expires_at) return "key_ends_sooner_in_one";
  const isLess =
    before.permissions.length !== key.permissions.length ||
    raisesLimits(key.order_limits ?? {}, before.order_limits ?? {});
  return isWritten || isLess ? "key_item_differs" : undefined;
};

const describeKey = ({ status, expires_at }: AccountKey): string =>
  status === "revoked" ? "revoked" : expires_at === undefined ? "active" : `active until ${expires_at}`;

/** Reconciles one account. If another write comes first, the reconciliation is planned again. */
const reconcileAccount = (
  store: AccountStore,
  accountId: string,
  unlisted: readonly string[],
  isDryRun: boolean,
): Promise<readonly KeyDifference[]> =>
  retryUntilDone(async () => {
    const before = await requireAccount(store, accountId);
    const hashes = new Set([...before.keys.map(({ hash }) => hash), ...unlisted]);
    const { account, keyWrites, findings } = planReconciliation(store, before, await findKeys(store, [...hashes]));
    if (isDryRun || findings.length === 0) return { kind: "done", result: findings };
    let version = before.version;
    // Each part also writes the account, so a concurrent change of it is noticed.
    for (let start = 0; start === 0 || start < keyWrites.length; start += KEY_WRITES_MAX) {
      const part = keyWrites.slice(start, start + KEY_WRITES_MAX);
      const restriction =
        account.status === "restricted"
          ? [walletRestriction(store.ledgerTable, accountId, true, (store.clock ?? systemClock)())]
          : [];
      const replaced = await replaceAccount(store, { ...account, version }, part, restriction);
      if (replaced.kind !== "written") return replaced;
      version += 1;
    }
    return { kind: "done", result: findings };
  });

/** What names a key's item that cannot be read. */
const unreadableItem = z.object({ account_id: z.catch(z.string(), "unknown"), key_id: z.catch(z.string(), "unknown") });
export type UnreadableKeyItem = z.infer<typeof unreadableItem>;

/** All keys of the access table, read strongly. No request with one that cannot be read is admitted. */
export async function* scanKeyItems(
  { db, accessTable }: AccountStore & WithSdk,
  onUnreadable: (item: UnreadableKeyItem) => void,
): AsyncGenerator<KeyItem, void, void> {
  for await (const { Items = [] } of paginateScan({ client: db }, { TableName: accessTable, ConsistentRead: true })) {
    for (const item of Items) {
      const { data } = keyItemSchema.safeParse(item);
      if (data === undefined) onUnreadable(unreadableItem.parse(item));
      else yield data;
    }
  }
}

/** Revokes a key whose account is not in the ledger. */
export const revokeOrphan = async (
  store: AccountStore,
  keyItem: KeyItem,
  audit: (keyItem: KeyItem) => AuditPut,
): Promise<void> => {
  const { write } = revocation(store, { key_id: keyItem.key_id, hash: keyItem.pk });
  await transactWithRetry(store, [write, audit(keyItem)]);
};

/**
 * Makes ledger and access table agree about every key after one of them was restored: the more restrictive value wins.
 * Safe to run at any time. An account with an item that cannot be read stays as it is, and is among the differences with
 * which it resolves.
 */
export const reconcileKeys = async (
  store: AccountStore & WithSdk,
  { isDryRun, orphanAudit }: { readonly isDryRun: boolean; readonly orphanAudit: (keyItem: KeyItem) => AuditPut },
): Promise<readonly KeyDifference[]> => {
  const findings: KeyDifference[] = [];
  const unreadable = { found: "unreadable", result: "not reconciled" } as const;
  const keyItemsOf = new Map<string, KeyItem[]>();
  for (const accountId of await accountIdsOf({ db: store.db, table: store.ledgerTable })) keyItemsOf.set(accountId, []);
  for await (const keyItem of scanKeyItems(store, (item) => findings.push({ ...item, ...unreadable }))) {
    const keyItems = keyItemsOf.get(keyItem.account_id) ?? [];
    keyItemsOf.set(keyItem.account_id, [...keyItems, keyItem]);
  }
  for (const { account_id } of findings) keyItemsOf.delete(account_id);
  for (const [account_id, keyItems] of keyItemsOf) {
    try {
      findings.push(...(await reconcileItems(store, account_id, keyItems, { isDryRun, orphanAudit })));
    } catch (error) {
      if (!(error instanceof z.$ZodError)) throw error;
      findings.push({ account_id, ...unreadable });
    }
  }
  return findings;
};

/** The same of one account, which may be none of the ledger. */
const reconcileItems = async (
  store: AccountStore & WithSdk,
  account_id: string,
  keyItems: readonly KeyItem[],
  { isDryRun, orphanAudit }: Parameters<typeof reconcileKeys>[1],
): Promise<readonly KeyDifference[]> => {
  // The index of accounts lags behind, so the item itself is read.
  if ((await findAccount(store, account_id)) !== undefined) {
    const hashes = keyItems.map(({ pk }) => pk);
    return reconcileAccount(store, account_id, hashes, isDryRun);
  }
  const active = keyItems.filter(({ status }) => status === "active");
  for (const keyItem of isDryRun ? [] : active) await revokeOrphan(store, keyItem, orphanAudit);
  return active.map(({ key_id }) => ({ account_id, key_id, found: "account_unknown", result: "revoked" }));
};
