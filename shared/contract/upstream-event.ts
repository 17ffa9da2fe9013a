import * as z from "#zod";
import { wellFormed, wholeText } from "./fields.ts";
import { lazyObject } from "./lazy-object.ts";
import { livePrefixes, REFERENCE_ID, TEST_PREFIX } from "./transaction.ts";
import { phoneNumberOf } from "./values/phone-number.ts";

/** The only event about a transaction. Source: docs/interface.md 15.3. */
export const UPSTREAM_TRANSACTION_UPDATED = "transaction.updated";

/**
 * An event of the upstream: any JSON object. Its fields are parsed later, so no event is lost (docs/interface.md
 * 17.D4).
 */
export const upstreamEvent = lazyObject(() => ({ event: z.optional(z.unknown()), data: z.optional(z.unknown()) }));

const OURS = new RegExp(`^(${[...Object.values(livePrefixes), TEST_PREFIX].join("|")})${REFERENCE_ID}$`, "i");
/** Our references are in capitals, and an upstream may write them in small letters. */
export const inOurLetters = (reference: string): string => (OURS.test(reference) ? reference.toUpperCase() : reference);

/** The upstream's reference of an order, or ours: text, or a number, which is read as text. */
export const reportedReference = z.union([
  z.pipe(z.string().check(z.minLength(1), z.maxLength(100), wholeText), z.transform(inOurLetters)),
  z.pipe(z.int().check(z.positive()), z.transform(String)),
]);

const sentPhone = z.union([
  z.string().check(z.minLength(1), z.maxLength(20)),
  z.pipe(z.int().check(z.positive()), z.transform(String)),
]);

/**
 * What else the upstream reports of an order: what cannot be read counts as absent. Orders are found by their phone
 * number, which they have in 11 digits.
 */
export const reportedFields = lazyObject(() => ({
  type: z.catch(z.optional(z.string().check(z.maxLength(40), wellFormed, z.trim(), z.toLowerCase())), undefined),
  phone: z.catch(
    z.optional(
      z.pipe(
        sentPhone,
        z.transform((sent) => phoneNumberOf(sent) ?? sent),
      ),
    ),
    undefined,
  ),
}));

export const upstreamEventReceipt = lazyObject(() => ({ outcome: z.enum(["accepted", "ignored"]) }));
