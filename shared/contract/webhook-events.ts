import * as z from "zod";

/** Events that only accounts with a subscription get. */
export const accountEventName = z.enum(["wallet.low", "catalog.updated"]);
export type AccountEventName = z.infer<typeof accountEventName>;
