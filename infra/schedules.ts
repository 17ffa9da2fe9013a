/** Functions that are invoked each minute; each decides whether it has something to do. */
export const scheduledFunctions = [
  "refresh-catalog",
  "reconcile-ledger",
  "requeue-deliveries",
  "send-waiting-orders",
] as const;

export type ScheduledFunction = (typeof scheduledFunctions)[number];

/** The scheduled functions that change the ledger are disabled with the workers. */
export const isWorker = (name: ScheduledFunction): boolean => name !== "refresh-catalog";
