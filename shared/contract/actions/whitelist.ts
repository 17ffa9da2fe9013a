import * as z from "#zod";
import { readRoles } from "../roles.ts";
import { type ActionTable, accountChange, accountChangeInput, accountInput, serviceRead } from "./action.ts";

const whitelistView = z.object({ account_id: z.string(), ips: z.array(z.string()) });
const whitelistChangeInput = z.extend(accountChangeInput, {
  /** IP addresses and CIDR ranges. */
  ranges: z
    .array(z.string().check(z.trim(), z.maxLength(50)))
    .check(z.minLength(1, "Must have at least one address"), z.maxLength(20)),
});

/** An account's whitelist. */
export const whitelistActions = {
  "ips list": {
    scope: "account",
    roles: readRoles,
    kind: "read",
    input: accountInput,
    output: whitelistView,
    summary: "List the allowed addresses; with none the account cannot call",
    command: {
      takes: { account: "<account>" },
      example: "acc_0123456789abcdef01",
      table: { rows: "ips", columns: ["address or range"] },
    },
  },
  "ips ranges": {
    ...serviceRead,
    input: z.object({}),
    output: z.object({ ranges: z.array(z.string()) }),
    summary: "List what all accounts allow that are not closed, without a range that is within a wider one",
    command: "none",
  },
  "ips mine": {
    scope: "account",
    roles: readRoles,
    kind: "read",
    input: accountInput,
    output: z.object({
      address: z.string(),
      /** Whether an entry of the whitelist covers it. */
      is_allowed: z.boolean(),
    }),
    summary: "Show the address that this request comes from",
    command: "none",
  },
  "ips allow": {
    ...accountChange,
    input: whitelistChangeInput,
    output: whitelistView,
    summary: "Allow addresses or CIDR ranges, for all keys of the account",
    command: {
      takes: { account: "<account>", ranges: "<range...>" },
      example: "acc_0123456789abcdef01 203.0.113.7 2001:db8::/64",
      table: { rows: "ips", columns: ["address or range"] },
    },
  },
  "ips disallow": {
    ...accountChange,
    input: whitelistChangeInput,
    output: whitelistView,
    summary: "Remove addresses or CIDR ranges from the list, as ips list shows them",
    command: {
      takes: { account: "<account>", ranges: "<range...>" },
      example: "acc_0123456789abcdef01 203.0.113.7",
      table: { rows: "ips", columns: ["address or range"] },
    },
  },
} as const satisfies ActionTable;
