/**
 * An item before and after one change; undefined where it did not exist. Numbers stay wrapped: one that exceeds
 * JavaScript's range would make its change unreadable for ever.
 */
export type Change = { readonly before: unknown; readonly after: unknown };
