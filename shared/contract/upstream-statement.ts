import * as z from "#zod";
import { wholeText } from "./fields.ts";
import { transactionStatus, transactionType } from "./transaction.ts";

/** What both sides say of one order: our books, and the upstream's statement. `reference` is ours. */
const bothSides = {
  reference: z.string().check(wholeText),
  upstream_reference: z.optional(z.string().check(wholeText)),
  /** A keyed hash of the recipient's number; absent for identity checks. */
  phone_hash: z.optional(z.string()),
  amount_kobo: z.int().check(z.minimum(0)),
  status: transactionStatus,
  at: z.iso.datetime(),
};

/** A live order as our books have it. */
export const bookedOrder = z.object({
  ...bothSides,
  type: transactionType,
  /** The upstream's statement of the day must list it. */
  is_due: z.boolean(),
});
export type BookedOrder = z.infer<typeof bookedOrder>;

/** A row of the upstream's statement, normalised. */
export const statementRow = z.object({
  ...bothSides,
  reference: z.optional(bothSides.reference),
  type: z.optional(transactionType),
});
export type StatementRow = z.infer<typeof statementRow>;

/** What a comparison says of an order, a row, or both. */
export const findingClasses = [
  "matched",
  "amount_differs",
  "status_contradicts",
  "time_differs",
  "only_ours",
  "only_theirs",
  "charged_twice",
  "clock_differs",
] as const;
export type FindingClass = (typeof findingClasses)[number];
