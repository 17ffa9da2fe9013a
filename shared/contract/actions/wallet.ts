import * as z from "#zod";
import { bookReadRoles } from "../roles.ts";
import { transactionType } from "../transaction.ts";
import { transactionQuery } from "../transaction-query.ts";
import { TYPED_NAIRA_RULE } from "../values/money.ts";
import {
  type ActionTable,
  accountChange,
  accountChangeInput,
  accountInput,
  accountRead,
  bookChange,
  bookRead,
  nairaAmount,
  nextCursor,
  serviceChange,
  whySchema,
} from "./action.ts";

/** The idempotency id of a ledger entry, such as the bank's reference. */
export const entryIdSchema = z
  .string()
  .check(z.trim(), z.regex(/^[A-Za-z0-9._:/-]{1,100}$/, "Must be 1 to 100 of the characters A-Z a-z 0-9 . _ : / -"));

/** Up to 9,999,999,999.99 NGN, so a typing error stays a safe integer of kobo. */
const AMOUNT_KOBO_MAX = 999_999_999_999;
const amountKobo = z.int(TYPED_NAIRA_RULE).check(z.maximum(AMOUNT_KOBO_MAX, "Is too large"));

export const entryResult = z.object({
  account_id: z.string(),
  id: z.string(),
  amount: nairaAmount,
  /** An entry with this id was there already: nothing was changed. */
  repeated: z.boolean(),
  balance: nairaAmount,
});

/** The most lines of one page of a statement. */
export const STATEMENT_LINES_MAX = 500;

/** The type of an order stands for its debit. */
export const lineKind = z.union([z.enum(["funding", "adjustment", "refund"]), transactionType]);

/** One change of the wallet. A line never changes, so a statement until a past moment stays the same. */
export const statementLine = z.object({
  at: z.iso.datetime(),
  /** The same in the time zone of the stage, or of the closed period. */
  local_time: z.string(),
  kind: lineKind,
  /** Of a debit and its refund, our reference of the order. */
  id: z.string(),
  caller_reference: z.nullable(z.string()),
  network: z.nullable(z.string()),
  description: z.string(),
  effect: nairaAmount,
  /** The balance after it. */
  balance: nairaAmount,
});

/** An account's wallet. Amounts of outputs are NGN. */
export const walletActions = {
  "wallet show": {
    ...accountRead,
    input: accountInput,
    output: z.object({
      account_id: z.string(),
      balance: nairaAmount,
      low_balance_threshold: z.nullable(nairaAmount),
      /** How many orders wait to be sent, in the account's queue or set aside. */
      queued_orders: z.int(),
      updated_at: z.iso.datetime(),
    }),
    summary: "Show the balance of a wallet",
    command: "none",
  },
  "wallet low": {
    ...bookRead,
    input: z.object({}),
    output: z.object({
      /** The lowest in relation to its threshold first. */
      wallets: z.array(z.object({ account_id: z.string(), balance: nairaAmount, low_balance_threshold: nairaAmount })),
    }),
    summary: "List the wallets whose balance is below their threshold",
    command: "none",
  },
  "wallet threshold": {
    ...accountChange,
    /** 0 removes it. */
    input: z.extend(accountChangeInput, {
      amount_kobo: amountKobo.check(z.minimum(0, "Must not be below 0")),
      /** The threshold that the person saw, 0 for none: if it differs from the stored one, nothing is changed. */
      before_kobo: z.optional(z.int()),
    }),
    output: z.object({ account_id: z.string(), low_balance_threshold: z.nullable(nairaAmount) }),
    summary: "Set the balance below which GET /v1/wallet reports a low balance; 0 removes it",
    command: {
      takes: { account: "<account>", amount_kobo: "<naira>" },
      example: "acc_0123456789abcdef01 5000",
    },
  },
  "wallet fund": {
    ...bookChange,
    fourEyes: true,
    movesMoney: true,
    input: z.extend(accountChangeInput, {
      amount_kobo: amountKobo.check(z.minimum(1, "Must be above 0")),
      id: entryIdSchema.check(z.meta({ description: "the bank's reference of the transfer" })),
    }),
    output: entryResult,
    summary: "Credit a bank transfer to a wallet; safe to retry with the same id",
    command: {
      takes: { account: "<account>", amount_kobo: "<naira>", id: "--id <reference>" },
      example: "acc_0123456789abcdef01 50000 --id GTB-20261121-0042",
    },
  },
  "wallet adjust": {
    ...serviceChange,
    fourEyes: true,
    irreversible: true,
    movesMoney: true,
    input: z.extend(accountInput, {
      amount_kobo: amountKobo.check(
        z.minimum(-AMOUNT_KOBO_MAX, "Is too large"),
        z.refine((kobo) => kobo !== 0, "Must not be 0"),
      ),
      id: entryIdSchema.check(z.meta({ description: "a unique name of this correction" })),
      why: whySchema,
    }),
    output: entryResult,
    summary: "Correct a balance with a ledger entry, never below 0; safe to retry with the same id",
    command: {
      takes: { account: "<account>", amount_kobo: "<naira>", id: "--id <reference>" },
      example: 'acc_0123456789abcdef01 -500 --id case-17 --why "refunded twice"',
    },
  },
  "wallet reverse": {
    ...bookChange,
    fourEyes: true,
    movesMoney: true,
    input: z.extend(accountInput, {
      id: entryIdSchema.check(z.meta({ description: "the bank's reference of the funding" })),
      why: whySchema,
    }),
    output: entryResult,
    summary: "Reverse a wrong funding in full, once and never below 0, by an adjustment that names it",
    command: {
      takes: { account: "<account>", id: "--id <reference>" },
      example: 'acc_0123456789abcdef01 --id GTB-20261121-0042 --why "of another account, ticket 12"',
    },
  },
  "wallet statement": {
    scope: "account",
    roles: bookReadRoles,
    kind: "read",
    personal: true,
    input: z.extend(accountInput, {
      ...z.pick(transactionQuery, { from: true, to: true }).shape,
      cursor: z.optional(z.string().check(z.maxLength(1_000))),
    }),
    /** A page may have no lines and yet a `next_cursor`: what is before `from` is summed up too. */
    output: z.object({
      account_id: z.string(),
      /** The balance before the first line of this page. */
      opening: nairaAmount,
      /** The balance after the last line of this page. */
      closing: nairaAmount,
      lines: z.array(statementLine).check(z.maxLength(STATEMENT_LINES_MAX)),
      next_cursor: nextCursor,
    }),
    summary: "List every debit, refund, funding and adjustment of a wallet, oldest first, with the running balance",
    command: "by hand",
  },
  "wallet verify": {
    ...bookRead,
    input: accountInput,
    output: z.object({
      account_id: z.string(),
      ok: z.boolean(),
      balance: nairaAmount,
      expected: nairaAmount,
      difference: nairaAmount,
    }),
    summary: "Reconcile a balance with its ledger entries",
    command: "by hand",
  },
} as const satisfies ActionTable;
