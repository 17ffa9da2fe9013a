/** Functions that are called by the clock, each minute; each decides itself whether there is something to do. */
export const scheduledFunctions = ["refresh-catalog", "reconcile-ledger"] as const;

/** The scheduled function that changes the ledger. */
export const LEDGER_SCHEDULE = "reconcile-ledger";
