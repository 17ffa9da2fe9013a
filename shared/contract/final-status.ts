import * as z from "#zod";

/** How a transaction ends. A module of its own, because the function of webhooks needs nothing else of a transaction. */
export const finalStatus = z.enum(["success", "failed"]);
export type FinalStatus = z.infer<typeof finalStatus>;
