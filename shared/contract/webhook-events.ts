import * as z from "#zod";

/** Events that only endpoints with a subscription get. */
export const accountEventName = z.enum(["wallet.low", "limit.near", "catalog.updated"]);
export type AccountEventName = z.infer<typeof accountEventName>;

export const TRANSACTION_UPDATED = "transaction.updated";

/** The events that an endpoint can get. */
export const endpointEventName = z.enum(
  [TRANSACTION_UPDATED, ...accountEventName.options],
  `Must be some of ${[TRANSACTION_UPDATED, ...accountEventName.options].join(", ")}`,
);
export type EndpointEventName = z.infer<typeof endpointEventName>;

/** Webhook endpoints of an account. Each is one more delivery of every event that it gets. */
export const ENDPOINTS_MAX = 5;
