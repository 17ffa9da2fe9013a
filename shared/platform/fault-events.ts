import type { LogEvents } from "./log-events.ts";

/**
 * Events by which the running version may be at fault, and not the upstream or a caller: in a canary release they roll
 * the version back. In a module of its own, so that no bundle contains the texts of the catalogue.
 */
export const faultEvents: readonly string[] = [
  "request.failed",
  "order.outcome_not_recorded",
  "purchases.unreadable",
  "reference_key.differs",
  "identity_key.unusable",
  "message.failed",
  "catalog.unreadable",
] satisfies (keyof LogEvents)[];
