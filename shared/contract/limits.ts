/** Rate groups and their requests per minute and key. Source: INTERFACE "Limits". */
export const rateGroups = { vtu: 60, identity: 30, catalog: 120 } as const;
export type RateGroup = keyof typeof rateGroups;

/** Smallest airtime top-up. Source: INTERFACE "Limits". */
export const AIRTIME_NAIRA_MIN = 50;

/** Largest request body, in bytes. Source: docs/decisions/0001-contract-gaps.md. */
export const BODY_BYTES_MAX = 16 * 1_024;

/** Levels of objects and arrays in a request body, the body itself included; the contract itself needs 1. */
export const BODY_DEPTH_MAX = 16;

/** Transactions on one page of the list. */
export const PAGE_TRANSACTIONS_MAX = 50;

/** How long callers may keep the catalog, in seconds. Source: INTERFACE "GET /vtu/data". */
export const CATALOG_MAX_AGE_S = 3_600;
