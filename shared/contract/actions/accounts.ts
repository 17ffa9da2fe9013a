import * as z from "#zod";
import { DUPLICATE_WINDOW_S_MAX, duplicateWindowSchema } from "../duplicate-window.ts";
import { orderLimitsSchema, usageView } from "../order-limits.ts";
import { entitlementSchema, entitlementsSchema, permissionSchema } from "../permission.ts";
import { roles } from "../roles.ts";
import { modeSchema } from "../transaction.ts";
import {
  type ActionTable,
  accountChangeInput,
  accountInput,
  accountRead,
  changeInput,
  nairaAmount,
  printableText,
  serviceChange,
  typedNumber,
} from "./action.ts";

export const accountView = z.object({
  account_id: z.string(),
  name: z.string(),
  status: z.enum(["active", "restricted", "closed"]),
  created_at: z.iso.datetime(),
});

/** A key without its hash. `ended`: past the end of its overlap. */
export const keyViewSchema = z.object({
  key_id: z.string(),
  name: z.string(),
  /** Its last four characters. Absent: the key was found in the access table alone. */
  last_four: z.optional(z.string()),
  mode: modeSchema,
  status: z.enum(["active", "ended", "revoked"]),
  permissions: z.array(permissionSchema),
  created_at: z.iso.datetime(),
  /** As the audit log names who made it. Absent: no person did. */
  created_by: z.optional(z.string()),
  expires_at: z.optional(z.iso.datetime()),
  /** Absent if live orders with it have no limit of their own. */
  order_limits: z.optional(orderLimitsSchema),
});

export const accountNameSchema = printableText.check(z.minLength(1), z.maxLength(60));

const ACCOUNT_OWNERS_MAX = 20;

/** The person with this e-mail address, as the identity provider has verified it, or everybody in this group. */
const accountOwnerSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("email"),
    value: z.pipe(
      z.string().check(z.trim(), z.toLowerCase(), z.maxLength(254)),
      z.email({ error: ({ input }) => `"${input}" is not an e-mail address` }),
    ),
  }),
  z.object({
    kind: z.literal("group"),
    value: printableText.check(z.minLength(1), z.maxLength(200)),
  }),
]);

export const accountOwnersSchema = z
  .array(accountOwnerSchema)
  .check(z.maxLength(ACCOUNT_OWNERS_MAX, `Must be at most ${ACCOUNT_OWNERS_MAX} owners`))
  .register(z.globalRegistry, {
    description: "email:ADDRESS, as the identity provider has verified it, or group:NAME; none for nobody",
  });

export const accountsActions = {
  "accounts list": {
    scope: "service",
    roles,
    kind: "read",
    input: z.object({}),
    /** `balance` in NGN. */
    output: z.object({ accounts: z.array(z.extend(accountView, { balance: nairaAmount })) }),
    summary: "List all accounts with their balances, oldest first",
    command: {
      table: {
        rows: "accounts",
        columns: ["account_id", "name", "status", "balance", "created_at"],
      },
    },
  },
  "accounts show": {
    ...accountRead,
    input: accountInput,
    output: z.extend(accountView, {
      /** In NGN, as `low_balance_threshold`. */
      balance: nairaAmount,
      low_balance_threshold: z.nullable(nairaAmount),
      /** Absent if there are none. */
      owners: z.optional(accountOwnersSchema),
      entitlements: entitlementsSchema,
      /** Live orders of this day in Lagos that count for a quota. */
      orders_today: z.partialRecord(entitlementSchema, z.int()),
      /** Absent if no purchase is refused because it is like an earlier one. */
      duplicate_window_s: z.optional(duplicateWindowSchema),
      /** Absent if its live orders have no limit. */
      order_limits: z.optional(orderLimitsSchema),
      /** What its limits count; absent if no limit of a day or a month is set. */
      usage: z.optional(usageView),
      /** Absent, like `keys`, for a person who may not list them. */
      ips: z.optional(z.array(z.string())),
      keys: z.optional(z.array(keyViewSchema)),
      /** The first of its endpoints. */
      webhook: z.nullable(z.object({ url: z.string(), status: z.enum(["on", "off"]) })),
      webhooks: z.array(
        z.object({ endpoint: z.string(), name: z.string(), url: z.string(), status: z.enum(["on", "off"]) }),
      ),
    }),
    summary: "Show an account with its addresses, keys and webhook endpoints",
    command: "by hand",
  },
  "accounts create": {
    ...serviceChange,
    input: z.extend(changeInput, { name: accountNameSchema }),
    output: accountView,
    summary: "Create an account with an empty wallet; it needs ips allow and keys create before it can call",
    command: { takes: { name: "<name>" }, example: "checkout" },
  },
  "accounts restrict": {
    ...serviceChange,
    confirm: true,
    input: accountChangeInput,
    output: accountView,
    summary: "Restrict an account: all its requests are answered with 403",
    command: {
      takes: { account: "<account>" },
      example: 'acc_0123456789abcdef01 --why "unpaid invoice 1042"',
    },
  },
  "accounts unrestrict": {
    ...serviceChange,
    input: accountChangeInput,
    output: accountView,
    summary: "Accept the requests of a restricted account again",
    command: { takes: { account: "<account>" }, example: "acc_0123456789abcdef01" },
  },
  "accounts close": {
    ...serviceChange,
    confirm: true,
    input: accountChangeInput,
    output: accountView,
    summary: "Close a restricted, empty account: its keys are revoked, and no entry is booked",
    command: {
      takes: { account: "<account>" },
      example: 'acc_0123456789abcdef01 --why "ticket 112"',
    },
  },
  "accounts reopen": {
    ...serviceChange,
    input: accountChangeInput,
    output: accountView,
    summary: "Reopen a closed account as a restricted one; its keys stay revoked",
    command: {
      takes: { account: "<account>" },
      example: 'acc_0123456789abcdef01 --why "ticket 113"',
    },
  },
  "accounts entitle": {
    ...serviceChange,
    fourEyes: true,
    input: z.extend(accountChangeInput, {
      entitlements: entitlementsSchema,
      /** What the person saw: if it differs from what is stored, nothing is changed. */
      before: z.optional(entitlementsSchema),
    }),
    output: z.object({ account_id: z.string(), entitlements: entitlementsSchema }),
    summary: "Replace what an account may do and how often; its keys can do no more than that",
    command: {
      takes: { account: "<account>", entitlements: "--set <entitlements...>" },
      example: "acc_0123456789abcdef01 --set vtu identity=1000 identity:advanced=50",
    },
  },
  "accounts duplicates": {
    ...serviceChange,
    input: z.extend(accountChangeInput, {
      window_s: z
        .pipe(
          typedNumber,
          z
            .int(`Must be a whole number from 0 to ${DUPLICATE_WINDOW_S_MAX}`)
            .check(z.minimum(0), z.maximum(DUPLICATE_WINDOW_S_MAX)),
        )
        .register(z.globalRegistry, {
          description: "from 1 to 86400 seconds in which a purchase like an earlier one is refused; 0 for none",
        }),
      /** The window that the person saw, 0 for none: if it differs from the stored one, nothing is changed. */
      before: z.optional(z.int()),
    }),
    output: z.object({ account_id: z.string(), duplicate_window_s: z.optional(duplicateWindowSchema) }),
    summary: "Set how long a live purchase like an earlier one of the account is refused, unless the app confirms it",
    command: {
      takes: { account: "<account>", window_s: "--window-s <seconds>" },
      example: "acc_0123456789abcdef01 --window-s 300",
    },
  },
  "accounts limits": {
    ...serviceChange,
    fourEyes: true,
    input: z.extend(accountChangeInput, {
      limits: orderLimitsSchema,
      /** The limits that the person saw: if they differ from the stored ones, nothing is changed. */
      before: z.optional(orderLimitsSchema),
    }),
    output: z.object({ account_id: z.string(), order_limits: orderLimitsSchema }),
    summary: "Limit an account's live orders by order, day and month; replaces all its limits",
    command: {
      takes: { account: "<account>", limits: "--set <limits...>" },
      example: "acc_0123456789abcdef01 --set order_naira=5000 day_naira=100000 month_orders=5000",
    },
  },
  "accounts owners": {
    ...serviceChange,
    input: z.extend(accountChangeInput, {
      owners: accountOwnersSchema,
      /** The owners that the person saw: if they differ from the stored ones, nothing is changed. */
      before: z.optional(accountOwnersSchema),
    }),
    output: z.object({ account_id: z.string(), owners: accountOwnersSchema }),
    summary: "Replace the list of owners, who may manage an account in the console",
    command: {
      takes: { account: "<account>", owners: "--set <owners...>" },
      example: "acc_0123456789abcdef01 --set email:ada@example.com group:checkout-team",
      table: { rows: "owners", columns: ["kind", "value: owner"] },
    },
  },
} as const satisfies ActionTable;
