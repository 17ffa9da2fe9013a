import * as z from "#zod";
import { orderLimitsSchema, usageView } from "../order-limits.ts";
import { entitlementsSchema, permissionSchema } from "../permission.ts";
import { readRoles } from "../roles.ts";
import { modeSchema } from "../transaction.ts";
import { DAY_MS } from "../values/durations.ts";
import { keyViewSchema } from "./accounts.ts";
import {
  type ActionTable,
  accountChange,
  accountChangeInput,
  accountInput,
  itemChangeInput,
  printableText,
} from "./action.ts";

export const keyId = z
  .string()
  .check(
    z.regex(
      /^key_[0-9a-f]{1,60}$/,
      "Must be a key id such as key_0123456789abcdef01, not the key itself, whose id admin keys find shows",
    ),
  );

const keyName = printableText.check(z.minLength(1), z.maxLength(60));

/** How long a replaced key may stay valid. */
const OVERLAP_MS_MAX = 30 * DAY_MS;

/** The service keeps only the key's hash and its last four characters. */
const SHOWN_ONCE = "The key is not shown again.";
const newKeyView = z.object({ account_id: z.string(), key_id: z.string(), key: z.string() });

/** An account's API keys. */
export const keysActions = {
  "keys list": {
    scope: "account",
    roles: readRoles,
    kind: "read",
    input: accountInput,
    output: z.object({
      account_id: z.string(),
      /** The account's: its keys can do no more. */
      entitlements: entitlementsSchema,
      keys: z.array(
        z.extend(keyViewSchema, {
          /** The minute of the newest request that had this key, also of one that was refused. Null: none so far. */
          last_used_at: z.nullable(z.iso.datetime()),
          /** What its limits count; absent if no limit of a day or a month is set. */
          usage: z.optional(usageView),
        }),
      ),
    }),
    summary: "List an account's keys by id",
    command: {
      takes: { account: "<account>" },
      example: "acc_0123456789abcdef01",
      table: {
        rows: "keys",
        columns: [
          ...["key_id", "name", "last_four", "mode", "status", "permissions"],
          ...["created_at", "created_by", "expires_at", "last_used_at"],
        ],
      },
    },
  },
  "keys create": {
    ...accountChange,
    input: z.extend(accountChangeInput, {
      mode: z.enum(modeSchema.options).register(z.globalRegistry, { description: "live, or test for the sandbox" }),
      permissions: z
        .optional(z.array(permissionSchema).check(z.minLength(1, "Must have at least one permission"), z.maxLength(10)))
        .register(z.globalRegistry, {
          description: `comma-separated, of ${permissionSchema.options.join(", ")}; by default what the account is entitled to, except identity:retrieve`,
        }),
      name: z.optional(keyName).register(z.globalRegistry, {
        description: "what people call it, such as the machine that has it; its replacements keep it",
      }),
    }),
    output: z.extend(newKeyView, { name: z.string(), mode: modeSchema, permissions: z.array(permissionSchema) }),
    summary: "Create a key and show it once",
    command: {
      takes: {
        account: "<account>",
        mode: "--mode <mode>",
        permissions: "--permissions <list>",
        name: "--name <name>",
      },
      example: 'acc_0123456789abcdef01 --mode live --permissions vtu,identity --name "Checkout"',
      note: SHOWN_ONCE,
    },
  },
  "keys rotate": {
    ...accountChange,
    input: z.extend(itemChangeInput, {
      key: keyId,
      overlap_ms: z
        .int()
        .check(z.minimum(0), z.maximum(OVERLAP_MS_MAX))
        .register(z.globalRegistry, { description: "how long the old key stays valid: 0, 30m, 24h, 7d" }),
    }),
    output: z.extend(newKeyView, { instead_of: z.string(), which_ends_at: z.iso.datetime() }),
    summary: "Replace a key; the old one expires after the overlap",
    command: {
      takes: { key: "<key>", overlap_ms: "--overlap <time>" },
      fallbacks: { overlap_ms: "24h" },
      example: "key_0123456789abcdef01 --overlap 24h",
      note: SHOWN_ONCE,
    },
  },
  "keys limits": {
    ...accountChange,
    input: z.extend(itemChangeInput, {
      key: keyId,
      limits: orderLimitsSchema,
      /** The limits that the person saw: if they differ from the stored ones, nothing is changed. */
      before: z.optional(orderLimitsSchema),
    }),
    output: z.object({ account_id: z.string(), key_id: z.string(), order_limits: orderLimitsSchema }),
    summary: "Limit live orders with a key by order, day and month; replaces all its limits",
    command: {
      takes: { key: "<key>", limits: "--set <limits...>" },
      example: "key_0123456789abcdef01 --set order_naira=5000 day_orders=200",
    },
  },
  "keys revoke": {
    ...accountChange,
    irreversible: true,
    input: z.extend(itemChangeInput, { key: keyId }),
    output: z.object({ account_id: z.string(), key_id: z.string(), status: z.literal("revoked") }),
    summary: "Revoke a key for good: its requests are answered with 401",
    command: "by hand",
  },
} as const satisfies ActionTable;
