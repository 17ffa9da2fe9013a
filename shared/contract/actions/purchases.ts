import * as z from "#zod";
import { roles } from "../roles.ts";
import { type ActionTable, accountInput, accountRead, changeInput, serviceChange, whySchema } from "./action.ts";

/** A network by its code, or a kind of orders. */
const partField = z
  .optional(
    z
      .string()
      .check(
        z.trim(),
        z.toLowerCase(),
        z.regex(/^[a-z0-9_-]{1,40}$/, "Must be a network's code, data, airtime or identity"),
      ),
  )
  .register(z.globalRegistry, { description: "a network's code, data, airtime or identity; without it the whole" });

/** The switch; only `purchases` is known if it was never used. */
const switchView = z.object({
  purchases: z.enum(["on", "off"]),
  since: z.nullable(z.iso.datetime()),
  by: z.nullable(z.string()),
  caller_arn: z.nullable(z.string()),
  why: z.nullable(z.string()),
});

const partView = z.object({
  part: z.string(),
  since: z.iso.datetime(),
  by: z.string(),
  why: z.nullable(z.string()),
});

export const purchasesView = z.extend(switchView, {
  /** What is off although the whole may be on. */
  parts: z.array(partView),
});

/** What was switched: the whole, or a part. */
const switched = z.extend(switchView, {
  part: z.nullable(z.string()),
  changed: z.boolean(),
  /** Why the audit entry could not be written. The switch itself was changed. */
  audit_error: z.optional(z.string()),
});

export const purchasesActions = {
  "purchases show": {
    scope: "service",
    roles,
    kind: "read",
    input: z.object({}),
    output: purchasesView,
    summary: "Show whether purchases are on, or which are off, since when, by whom and why",
    command: {},
  },
  "purchases state": {
    ...accountRead,
    input: accountInput,
    output: z.extend(z.pick(purchasesView, { purchases: true, since: true, why: true }), {
      parts: z.array(z.omit(partView, { by: true })),
    }),
    summary: "Show the owners of an account whether purchases are on, or which are off, since when and why",
    command: "none",
  },
  "purchases off": {
    ...serviceChange,
    confirm: true,
    input: z.object({ part: partField, why: whySchema }),
    output: switched,
    summary:
      "Refuse every new order (503) before its debit, or those of one network or kind; without --part also neither send nor refund queued orders. Replays and lookups are answered as before",
    command: { takes: { part: "--part <part>" }, example: '--why "restore of the ledger, ticket 97"' },
  },
  "purchases on": {
    ...serviceChange,
    input: z.extend(changeInput, { part: partField }),
    output: switched,
    summary: "Accept orders again, or those of one network or kind",
    command: { takes: { part: "--part <part>" } },
  },
} as const satisfies ActionTable;
