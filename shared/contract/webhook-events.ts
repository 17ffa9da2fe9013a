import * as z from "zod";

/** Events that only accounts with a subscription get. */
export const accountEventName = z.enum(["wallet.low", "limit.near", "catalog.updated"]);
export type AccountEventName = z.infer<typeof accountEventName>;
