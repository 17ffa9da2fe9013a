/** What the cache table holds. The comment names the module that has the item's shape. */

/** The kinds with one item, whose `pk` is the kind. */
const singleKinds = [
  "purchases", // shared/orders/purchases-switch.ts
  "purchases-parts", // shared/orders/purchases-switch.ts
  "upstream-pace", // shared/queued-orders/upstream-pace.ts
  "upstream-balance", // shared/upstream-lookup/upstream-balance.ts
  "catalog", // shared/catalog/catalog-store.ts
  "catalog-candidate", // shared/catalog/catalog-store.ts
] as const;
/** The kinds with many items, whose `pk` begins with the kind and `#`. */
const manyKinds = [
  "upstream-refusal", // shared/orders/upstream-refusal.ts, by group of orders
  "duplicate", // shared/ledger/duplicate-guard.ts, by what is bought for whom
  "upstream-lookup", // shared/upstream-lookup/lookup-record.ts, by open order
  "replay", // shared/identity/replay-store.ts, by identity check
  "searches", // shared/actions/action-limits.ts, by person and minute
  "resends", // shared/actions/action-limits.ts, by account and minute
  "statistics", // shared/statistics/hourly-counts.ts, by hour, and by account and day
  "balances", // shared/statistics/daily-balances.ts, by account and day
] as const;

type SingleKind = (typeof singleKinds)[number];
type ManyKind = (typeof manyKinds)[number];
export type CacheItemKind = SingleKind | ManyKind;
export const cacheItemKinds: readonly CacheItemKind[] = [...singleKinds, ...manyKinds];

const isSingle = (kind: CacheItemKind): boolean => singleKinds.some((single) => single === kind);

export const cachePk = (...[kind, ...parts]: readonly [SingleKind] | readonly [ManyKind, ...string[]]): string =>
  [kind, ...parts].join("#");

/** The keys of all items of a kind, as a pattern of IAM. */
export const cacheKeyPattern = (kind: CacheItemKind): string => (isSingle(kind) ? kind : `${kind}#*`);
