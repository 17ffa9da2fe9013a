import * as z from "#zod";
import { components } from "./components.ts";
import { referenceField } from "./fields.ts";
import { lazyObject } from "./lazy-object.ts";
import { transactionStatus, transactionType, transactionView } from "./transaction.ts";
import { timeField } from "./values/time-field.ts";

/** What lookups and the list of transactions are asked for. Source: docs/interface.md 14.1. */
export const transactionPath = lazyObject(() => ({
  reference: referenceField.check(z.meta({ description: "The service's reference, or the caller's." })),
})).register(components, { id: "TransactionPath" });

/** A time whose `+` was not encoded: in a query `+` means a space. */
const DECODED_OFFSET = /^\d{4}-\d{2}-\d{2}T[\d:.]+ \d{2}:?\d{2}$/;

export const momentField = z.union([timeField, z.iso.date()], {
  error: ({ input }) =>
    typeof input === "string" && DECODED_OFFSET.test(input)
      ? "A + in a URL means a space: send it as %2B, such as 2026-11-21T09:30:00%2B01:00"
      : "Must be a date such as 2026-11-21, or a time with its offset such as 2026-11-21T09:30:00Z",
});

export const NO_CURSOR = "Is no cursor of this list";

/** Filters of the list. `from` and `to` are inclusive; a date alone is that whole day in UTC. */
export const transactionQuery = lazyObject(() => ({
  status: z.optional(transactionStatus),
  type: z.optional(transactionType),
  from: z.optional(momentField).register(z.globalRegistry, {
    description: "Created at or after this time; a date means the beginning of that day in UTC. Encode a `+` as `%2B`.",
    examples: ["2026-11-21T09:30:00Z"],
  }),
  to: z.optional(momentField).register(z.globalRegistry, {
    description: "Created at or before this time; a date means the whole of that day in UTC. Encode a `+` as `%2B`.",
    examples: ["2026-11-21"],
  }),
  cursor: z
    .optional(z.string(NO_CURSOR).check(z.maxLength(400, NO_CURSOR)))
    .register(z.globalRegistry, { description: "The `next_cursor` of the previous page." }),
})).register(components, { id: "TransactionQuery" });
export type TransactionQuery = z.infer<typeof transactionQuery>;
export const transactionPage = lazyObject(() => ({
  transactions: z.array(transactionView).register(z.globalRegistry, { description: "Newest first." }),
  next_cursor: z.nullable(z.string()).register(z.globalRegistry, {
    description: "The `cursor` of the next page; null on the last page.",
  }),
})).register(components, { id: "TransactionPage" });
