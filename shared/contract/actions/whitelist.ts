import * as z from "zod";
import { type ActionTable, accountChangeInput, accountInput } from "./action.ts";

const whitelistView = z.object({ account_id: z.string(), ips: z.array(z.string()) });
const whitelistChangeInput = accountChangeInput.extend({
  /** IP addresses and CIDR ranges. */
  ranges: z.array(z.string().trim().max(50)).min(1, "Must have at least one address").max(20),
});

/** An account's whitelist. */
export const whitelistActions = {
  "ips list": {
    scope: "account",
    kind: "read",
    input: accountInput,
    output: whitelistView,
    summary: "List the allowed addresses; with none the account cannot call",
  },
  "ips mine": {
    scope: "account",
    kind: "read",
    input: accountInput,
    output: z.object({
      address: z.string(),
      /** Whether an entry of the whitelist covers it. */
      is_allowed: z.boolean(),
    }),
    summary: "Show the address that this request comes from",
  },
  "ips allow": {
    scope: "account",
    kind: "change",
    input: whitelistChangeInput,
    output: whitelistView,
    summary: "Allow addresses or CIDR ranges, for all keys of the account",
  },
  "ips disallow": {
    scope: "account",
    kind: "change",
    input: whitelistChangeInput,
    output: whitelistView,
    summary: "Remove addresses or CIDR ranges from the list, as ips list shows them",
  },
} as const satisfies ActionTable;
