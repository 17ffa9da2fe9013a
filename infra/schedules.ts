/** Functions that are invoked each minute; each decides whether it has something to do. */
export const scheduledFunctions = ["refresh-catalog", "reconcile-ledger"] as const;

/** The scheduled function that changes the ledger; it is disabled with the workers. */
export const LEDGER_SCHEDULE = "reconcile-ledger";
