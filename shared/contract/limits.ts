/** Every rate group: its requests per minute and key, and what it covers. Source: docs/interface.md 6.1. */
export const rateGroups = {
  vtu: { requestsPerMinute: 60, covers: "Airtime and data bundles." },
  identity: { requestsPerMinute: 30, covers: "Verification by NIN or BVN, and retrieval by phone number." },
  catalog: { requestsPerMinute: 120, covers: "Networks and plans, wallet, transactions." },
} as const;
export type RateGroup = keyof typeof rateGroups;

/** Longest `Retry-After` of a limit per minute. Source: docs/interface.md 6.D1. */
export const RETRY_AFTER_S_MAX = 60;

/** Smallest airtime top-up. Source: docs/interface.md 11.1. */
export const AIRTIME_NAIRA_MIN = 50;

/** Largest request body, in bytes. Source: docs/interface.md 4.D1. */
export const BODY_BYTES_MAX = 16 * 1_024;

/** Levels of objects and arrays in a request body, the body itself included. Source: docs/interface.md 4.D1. */
export const BODY_DEPTH_MAX = 16;

/** Transactions on one page of the list. Source: docs/interface.md 14.D5. */
export const PAGE_TRANSACTIONS_MAX = 50;

/** How long callers may keep the catalog, in seconds. Source: docs/interface.md 9.4, 9.D1. */
export const CATALOG_MAX_AGE_S = 3_600;
