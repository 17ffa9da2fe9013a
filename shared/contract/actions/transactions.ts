import * as z from "zod";
import { modeSchema, transactionQuery, transactionStatus, transactionView } from "../transaction.ts";
import {
  type ActionTable,
  accountField,
  accountInput,
  itemInput,
  nairaAmount,
  referenceInput,
  whySchema,
} from "./action.ts";

const listedTransaction = transactionView.extend({
  account_id: z.string(),
  mode: modeSchema,
  upstream_reference: z.string().nullable(),
});

const transactionDetails = listedTransaction.extend({
  /** When the order was sent, if it waited. */
  sent_at: z.iso.datetime().nullable(),
  /** What an operator should know of a transaction that waits, or that waited. */
  wait: z.string().nullable(),
  /** Only of an open live purchase that does not wait: whether it was sent, and so may have been delivered. */
  unknown_outcome: z.string().nullable(),
  /** Status changes, events, webhook deliveries and audit entries, oldest first. */
  history: z.array(z.object({ at: z.iso.datetime(), what: z.string(), details: z.string() })),
});

/** The most transactions of one page. */
export const LISTED_TRANSACTIONS_MAX = 500;

/** Transactions and their resolution. Amounts are NGN. */
export const transactionsActions = {
  "transactions list": {
    scope: "account",
    kind: "read",
    personal: true,
    input: accountInput.extend({
      ...transactionQuery.shape,
      mode: modeSchema.default("live"),
      limit: z.coerce.number().int().min(1).max(LISTED_TRANSACTIONS_MAX).optional(),
    }),
    /** A page may be short or empty although `next_cursor` is set: at most 500 transactions are read for it. */
    output: z.object({ transactions: z.array(listedTransaction), next_cursor: z.string().nullable() }),
    summary: "List the transactions of an account, newest first",
    command: "by hand",
  },
  "transactions show": {
    scope: "account",
    kind: "read",
    personal: true,
    input: itemInput.extend({ reference: referenceInput }),
    output: transactionDetails,
    summary: "Show a transaction and its history; takes our reference, the caller's or the upstream's",
    command: {
      takes: { reference: "<reference>", account: "--account <account>" },
      example: "DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
    },
  },
  "transactions open": {
    scope: "service",
    kind: "read",
    personal: true,
    input: z.object({}),
    output: z.object({
      /** How many are open, and how many of them for more than 15 minutes. */
      number: z.int(),
      stuck: z.int(),
      /** The oldest. */
      transactions: z
        .array(
          listedTransaction.extend({
            stuck: z.boolean(),
            /** For how long its own request may still settle it; 0 if an operator may. */
            in_flight_ms: z.int(),
          }),
        )
        .max(LISTED_TRANSACTIONS_MAX),
    }),
    summary: "List the live transactions that are open and sent, oldest first",
    command: "none",
  },
  "transactions waiting": {
    scope: "service",
    kind: "read",
    personal: true,
    input: z.object({ account: accountField.optional() }),
    output: z.object({
      number: z.int(),
      amount: nairaAmount,
      oldest_s: z.int().nullable(),
      /** About how long it takes to send them all once the limit is free; null while nothing is sent. */
      sending_s: z.number().nullable(),
      accounts: z.array(z.object({ account_id: z.string(), number: z.int(), counted: z.int(), amount: nairaAmount })),
      orders: z.array(
        z.object({
          reference: z.string(),
          account_id: z.string(),
          amount: nairaAmount,
          created_at: z.iso.datetime(),
          age_s: z.int(),
          /** An order that the upstream refused because of the order itself is sent again, and holds back no other one. */
          reason: z.enum(["upstream_limit", "refused_by_upstream", "account_restricted"]),
        }),
      ),
    }),
    summary: "List the orders that wait for the upstream's rate limit, in all accounts or in one",
    command: "none",
  },
  "transactions resolve": {
    scope: "service",
    kind: "change",
    irreversible: true,
    movesMoney: true,
    input: z.object({
      reference: referenceInput,
      status: z.enum(["success", "failed"], "Must be success or failed"),
      why: whySchema,
    }),
    output: z.object({
      reference: z.string(),
      account_id: z.string(),
      status: transactionStatus,
      amount: nairaAmount,
      refunded: nairaAmount,
    }),
    summary: "Settle an open transaction for good, as success or as failed (refunds the wallet)",
    command: {
      takes: { reference: "<reference>", status: "<status>" },
      example: 'DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ failed --why "not in the upstream\'s list, ticket 88"',
    },
  },
} as const satisfies ActionTable;
