import * as z from "zod";
import { lazyObject } from "./lazy-object.ts";

/** The only event about a transaction. Source: docs/interface.md 15.3. */
export const TRANSACTION_UPDATED = "transaction.updated";

/**
 * An event of the upstream: any JSON object. Its fields are parsed later, so no event is lost (docs/interface.md
 * 17.D4).
 */
export const upstreamEvent = lazyObject(() => ({ event: z.unknown().optional(), data: z.unknown().optional() }));

/** The upstream's reference of an order: text, or a number, which is read as text. */
export const upstreamReferenceSchema = z.union([z.string().min(1).max(100), z.int().positive().transform(String)]);

export const upstreamEventReceipt = lazyObject(() => ({ outcome: z.enum(["accepted", "ignored"]) }));
