import * as z from "zod";

/** INTERFACE "Events": the one event that there is. */
export const TRANSACTION_UPDATED = "transaction.updated";

/** What the upstream posts: any JSON object. What is wrong with it is found out behind the gate, so that no event is lost. */
export const upstreamEvent = z.object({ event: z.unknown().optional(), data: z.unknown().optional() });

/** What the upstream calls an order: text, or a number, which is read as text. */
export const upstreamReferenceSchema = z.union([z.string().min(1).max(100), z.int().positive().transform(String)]);

export const upstreamEventReceipt = z.object({ outcome: z.enum(["accepted", "ignored"]) });
