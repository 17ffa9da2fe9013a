import * as z from "#zod";
import { orderReadRoles } from "../roles.ts";
import { modeSchema, transactionStatus, transactionView } from "../transaction.ts";
import { transactionQuery } from "../transaction-query.ts";
import { maskedDigits } from "../values/mask-phones.ts";
import {
  type ActionTable,
  accountField,
  accountInput,
  accountRead,
  changeInput,
  itemInput,
  nairaAmount,
  nextCursor,
  referenceInput,
  seenSending,
  sendingField,
  serviceChange,
  typedNumber,
  typedReason,
  whySchema,
} from "./action.ts";
import { entryResult } from "./wallet.ts";

/** What the last answer to a lookup meant. */
export const lookupFindings = [
  /** The order was delivered, or failed: it is settled by it. */
  "success",
  "failed",
  /** The upstream has the order and it has no final status, or has one that the profile does not know. */
  "open",
  /** The upstream does not know the reference. The order may still be on its way. */
  "not_found",
  /** The answer is about another order. */
  "another_order",
  /** The answer lacks a field by which it could be compared with the order. */
  "incomplete",
  /** No answer, or one that says nothing about an order. */
  "unclear",
] as const;
export type LookupFinding = (typeof lookupFindings)[number];

export const lookupFindingTexts: Readonly<Record<LookupFinding, string>> = {
  success: "It was delivered",
  failed: "It failed",
  open: "It has not ended",
  not_found: "The upstream does not know it. It may still be on its way",
  another_order: "The answer is about another order",
  incomplete: "The answer lacks a field",
  unclear: "There was no clear answer",
};

export const listedTransaction = z.extend(transactionView, {
  account_id: z.string(),
  mode: modeSchema,
  upstream_reference: z.nullable(z.string()),
});

const orderAdvice = z.object({
  about: z.enum(["happened", "unknown", "wait", "customer", "avoid", "upstream", "resolve"]),
  text: z.string(),
});
export type OrderAdvice = z.infer<typeof orderAdvice>;

/** What advice on an order is about, as people read it. */
export const adviceHeadings: Readonly<Record<OrderAdvice["about"], string>> = {
  happened: "What happened",
  unknown: "What is not known",
  wait: "Until when to wait",
  customer: "What to tell the customer",
  avoid: "What not to do",
  upstream: "What to ask the upstream",
  resolve: "Whether to resolve it",
};

/** The operator who is on an open order, and since when. */
const taken = z.nullable(z.object({ by: z.string(), at: z.iso.datetime() }));

const transactionDetails = z.extend(listedTransaction, {
  taken,
  /** When the order was sent, if it waited. */
  sent_at: z.nullable(z.iso.datetime()),
  sending: sendingField,
  /** What an operator should know of a transaction that waits, or that waited. */
  wait: z.nullable(z.string()),
  /** Only of an open live purchase that does not wait: whether it was sent, and so may have been delivered. */
  unknown_outcome: z.nullable(z.string()),
  /** The order in plain words, for the person who is asked about it. */
  advice: z.array(orderAdvice),
  /** Until when a live order may end by itself; null if it has ended. */
  wait_until: z.nullable(z.iso.datetime()),
  /**
   * When the upstream is asked for the order next, in the run that begins within a minute of it; null if it cannot be
   * asked, and for owners.
   */
  next_question_at: z.nullable(z.iso.datetime()),
  /** Until when its own request may settle it, so that an operator may not; null if an operator may, or it has ended. */
  in_flight_until: z.nullable(z.iso.datetime()),
  /**
   * What the upstream answered when it was asked for the order; null if it was never asked, and for owners.
   */
  lookup: z.nullable(
    z.object({
      asked_at: z.iso.datetime(),
      asked: z.int(),
      finding: z.enum(lookupFindings),
      /** What was missing or different, or why there is no clear answer. */
      details: z.nullable(z.string()),
    }),
  ),
  /** The upstream can be asked for it now. */
  can_ask: z.boolean(),
  /** It was successful and is not refunded. */
  can_refund: z.boolean(),
  /** Each step that is on record, oldest first; `local_time` is in the time zone of the stage. */
  history: z.array(z.object({ at: z.iso.datetime(), local_time: z.string(), what: z.string(), details: z.string() })),
});

/** The most transactions of one page. */
export const LISTED_TRANSACTIONS_MAX = 500;

/** The most queued orders of one answer, which Lambda limits to 6 MB: about 30,000 of them have as much. */
export const QUEUED_ORDERS_LISTED_MAX = 5_000;

/** Transactions and their resolution. Amounts are NGN. */
export const transactionsActions = {
  "transactions list": {
    ...accountRead,
    personal: true,
    input: z.extend(accountInput, {
      ...transactionQuery.shape,
      mode: z._default(modeSchema, "live"),
      limit: z.optional(z.pipe(typedNumber, z.int().check(z.minimum(1), z.maximum(LISTED_TRANSACTIONS_MAX)))),
    }),
    /** A page may be short or empty although `next_cursor` is set: at most 500 transactions are read for it. */
    output: z.object({ transactions: z.array(listedTransaction), next_cursor: nextCursor }),
    summary: "List the transactions of an account, newest first",
    command: "by hand",
  },
  "transactions show": {
    ...accountRead,
    personal: true,
    input: z.extend(itemInput, { reference: referenceInput }),
    output: transactionDetails,
    summary: "Show a transaction and its history; takes our reference, the caller's or the upstream's",
    command: {
      takes: { reference: "<reference>", account: "--account <account>" },
      example: "DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
    },
  },
  "transactions open": {
    scope: "service",
    roles: orderReadRoles,
    kind: "read",
    personal: true,
    input: z.object({ cursor: z.optional(z.string().check(z.maxLength(100))) }),
    output: z.object({
      /** How many are open, and how many of them for more than 15 minutes. */
      number: z.int(),
      stuck: z.int(),
      /** The oldest of them, or of those behind the cursor. */
      transactions: z
        .array(
          z.extend(listedTransaction, {
            stuck: z.boolean(),
            sending: sendingField,
            /** For how long its own request may still settle it; 0 if an operator may. */
            in_flight_ms: z.int(),
            taken,
          }),
        )
        .check(z.maxLength(LISTED_TRANSACTIONS_MAX)),
      next_cursor: nextCursor,
    }),
    summary: "List the live transactions that are open and sent, oldest first",
    command: "none",
  },
  "transactions waiting": {
    scope: "service",
    roles: orderReadRoles,
    kind: "read",
    personal: true,
    input: z.object({ account: z.optional(accountField) }),
    output: z.object({
      number: z.int(),
      amount: nairaAmount,
      oldest_s: z.nullable(z.int()),
      /** About how long it takes to send them all once the limit is free; null while nothing is sent. */
      sending_s: z.nullable(z.number()),
      accounts: z.array(z.object({ account_id: z.string(), number: z.int(), counted: z.int(), amount: nairaAmount })),
      /** The oldest of them. */
      orders: z
        .array(
          z.object({
            reference: z.string(),
            account_id: z.string(),
            amount: nairaAmount,
            created_at: z.iso.datetime(),
            age_s: z.int(),
            /** An order that the upstream refused because of the order itself is sent again, and holds back no other one. */
            reason: z.enum(["upstream_limit", "refused_by_upstream", "account_restricted"]),
          }),
        )
        .check(z.maxLength(QUEUED_ORDERS_LISTED_MAX)),
    }),
    summary: "List the queued orders, in all accounts or in one",
    command: "none",
  },
  "transactions ask": {
    ...serviceChange,
    input: z.extend(changeInput, { reference: referenceInput }),
    output: z.object({ reference: z.string(), account_id: z.string() }),
    summary: "Ask the upstream for the outcome of an open order, within a minute",
    command: {
      takes: { reference: "<reference>" },
      example: "DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
      note: "The upstream is asked within a minute: transactions show has its answer.",
    },
  },
  "transactions take": {
    ...serviceChange,
    input: z.extend(changeInput, { reference: referenceInput }),
    output: z.object({ reference: z.string(), account_id: z.string(), taken }),
    summary: "Mark an open order as yours for 30 minutes: no other operator can mark it until then",
    command: { takes: { reference: "<reference>" }, example: "DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ" },
  },
  "transactions note": {
    scope: "service",
    roles: ["operator", "support"],
    kind: "change",
    input: z.object({
      reference: referenceInput,
      note: typedReason.check(
        z.overwrite(maskedDigits),
        z.meta({ description: "what to record, without numbers of persons: its account's owners read it too" }),
      ),
    }),
    output: z.object({ reference: z.string(), account_id: z.string() }),
    summary: "Add a note to the history of a transaction",
    command: {
      takes: { reference: "<reference>", note: "<note>" },
      example: 'DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ "the upstream calls back at noon, ticket 88"',
    },
  },
  "transactions refund": {
    ...serviceChange,
    fourEyes: true,
    irreversible: true,
    movesMoney: true,
    input: z.object({ reference: referenceInput, why: whySchema }),
    output: entryResult,
    summary: "Refund a successful live transaction that was not delivered, once, by an adjustment that names it",
    command: {
      takes: { reference: "<reference>" },
      example: 'DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ --why "the upstream reversed it, ticket 91"',
    },
  },
  "transactions resolve": {
    ...serviceChange,
    fourEyes: true,
    irreversible: true,
    movesMoney: true,
    input: z.object({
      reference: referenceInput,
      status: z.enum(["success", "failed"]),
      sending: seenSending,
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
      takes: { reference: "<reference>", status: "<status>", sending: "--sending <sending>" },
      example: 'DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ failed --why "not in the upstream\'s list, ticket 88"',
    },
  },
} as const satisfies ActionTable;
