import * as z from "zod";
import type { ActionTable } from "./action.ts";

const accountView = z.object({
  account_id: z.string(),
  name: z.string(),
  status: z.enum(["active", "restricted"]),
  created_at: z.iso.datetime(),
});

/** Accounts of callers. */
export const accountsActions = {
  "accounts list": {
    scope: "service",
    kind: "read",
    input: z.object({}),
    /** `balance` in NGN. */
    output: z.object({ accounts: z.array(accountView.extend({ balance: z.number() })) }),
    summary: "List all accounts with their balances, oldest first",
  },
} as const satisfies ActionTable;
