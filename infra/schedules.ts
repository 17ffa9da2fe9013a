import type { Urgency } from "../shared/platform/log.ts";

/** Functions that are invoked each minute; each decides whether it has something to do. */
export const scheduledFunctions = [
  "refresh-catalog",
  "reconcile-ledger",
  "requeue-deliveries",
  "send-waiting-orders",
] as const;

export type ScheduledFunction = (typeof scheduledFunctions)[number];

/** How urgent it is that one is not invoked. Without reconcile-ledger the alarms on money see nothing. */
export const scheduleUrgency = {
  "refresh-catalog": "ticket",
  "reconcile-ledger": "page",
  "requeue-deliveries": "ticket",
  "send-waiting-orders": "page",
} as const satisfies Record<ScheduledFunction, Urgency>;

/** The scheduled functions that change the ledger are disabled with the workers. */
export const isWorker = (name: ScheduledFunction): boolean => name !== "refresh-catalog";
