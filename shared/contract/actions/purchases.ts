import * as z from "zod";
import { type ActionTable, accountInput, changeInput, whySchema } from "./action.ts";

/** The switch; only `purchases` is known if it was never used. */
export const purchasesView = z.object({
  purchases: z.enum(["on", "off"]),
  since: z.iso.datetime().nullable(),
  by: z.string().nullable(),
  caller_arn: z.string().nullable(),
  why: z.string().nullable(),
});

const switched = purchasesView.extend({
  changed: z.boolean(),
  /** Why the audit entry could not be written. The switch itself was changed. */
  audit_error: z.string().optional(),
});

/** The purchases switch. */
export const purchasesActions = {
  "purchases show": {
    scope: "service",
    kind: "read",
    input: z.object({}),
    output: purchasesView,
    summary: "Show whether purchases are on, since when, by whom and why",
    command: {},
  },
  "purchases state": {
    scope: "account",
    kind: "read",
    input: accountInput,
    output: purchasesView.pick({ purchases: true, since: true, why: true }),
    summary: "Show the owners of an account whether purchases are on, since when and why",
    command: "none",
  },
  "purchases off": {
    scope: "service",
    kind: "change",
    confirm: true,
    input: z.object({ why: whySchema }),
    output: switched,
    summary:
      "Refuse every new order (503) before its debit, and neither send nor refund queued orders; replays and lookups are answered as before",
    command: { example: '--why "restore of the ledger, ticket 97"' },
  },
  "purchases on": {
    scope: "service",
    kind: "change",
    input: changeInput,
    output: switched,
    summary: "Accept orders again",
    command: {},
  },
} as const satisfies ActionTable;
