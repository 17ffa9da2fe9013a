import * as z from "#zod";
import { eventReasons, unreadableReasons } from "../event-reasons.ts";
import { modeSchema, transactionStatus, transactionType } from "../transaction.ts";
import {
  type ActionTable,
  nairaAmount,
  referenceInput,
  seenSending,
  sendingField,
  serviceChange,
  serviceRead,
  whySchema,
} from "./action.ts";

/** Whether an operator has decided about an event. */
export const eventState = z.enum(["open", "matched", "discarded"]);

export const eventStateTexts: Readonly<Record<z.output<typeof eventState>, string>> = {
  open: "Waits for a decision",
  matched: "Matched",
  discarded: "Discarded",
};

const eventView = z.object({
  /** Its id. */
  event: z.string(),
  at: z.iso.datetime(),
  state: eventState,
  /** Why it was not applied. */
  reason: z.enum([...eventReasons, ...unreadableReasons]),
  upstream_reference: z.nullable(z.string()),
  /** The status that it reports, or what could not be read. */
  says: z.string(),
  type: z.nullable(z.string()),
  /** Masked. */
  phone_number: z.nullable(z.string()),
  /** The reference of the transaction that it is about, if that is known. */
  transaction: z.nullable(z.string()),
  /** NGN. */
  amount: z.nullable(nairaAmount),
});

/** A field in which an event and a transaction differ, with both values formatted. */
const difference = z.object({ field: z.string(), event: z.string(), transaction: z.string() });

const candidate = z.object({
  reference: z.string(),
  account_id: z.string(),
  mode: modeSchema,
  status: transactionStatus,
  type: transactionType,
  /** NGN. */
  amount: nairaAmount,
  /** What the upstream is expected to state of it, which is compared with the event: a price may differ from the face value. */
  expected_amount: nairaAmount,
  network: z.nullable(z.string()),
  phone_number: z.nullable(z.string()),
  upstream_reference: z.nullable(z.string()),
  created_at: z.iso.datetime(),
  sending: sendingField,
  /** From when it was sent to the upstream to the event. */
  sent_before_s: z.int(),
  differences: z.array(difference),
});

const eventField = z.string().check(z.regex(/^event_[\w-]{1,60}$/, "Must be an event id, which begins with event_"));

export const upstreamEventsActions = {
  "events list": {
    ...serviceRead,
    personal: true,
    input: z.object({
      state: z
        ._default(z.enum(["open", "matched", "discarded", "all"]), "open")
        .register(z.globalRegistry, { description: "open, matched, discarded or all" }),
    }),
    /** At most 500: the oldest that are open, or those of another state among the latest 500. */
    output: z.object({ events: z.array(eventView) }),
    summary: "List the events that wait for an operator, oldest first, with the reason",
    command: {
      takes: { state: "--state <state>" },
      table: {
        rows: "events",
        columns: [
          "event",
          "at",
          "state",
          "reason",
          "upstream_reference",
          "says",
          "type",
          "amount",
          "phone_number",
          "transaction",
        ],
      },
    },
  },
  "events candidates": {
    ...serviceRead,
    personal: true,
    input: z.object({ event: eventField }),
    output: z.object({
      event: eventView,
      /** The transaction that it is about; or the open orders that it may be about, the likeliest first. */
      candidates: z.array(candidate),
    }),
    summary: "Show an event beside the orders that it may be about, with their differences",
    command: "none",
  },
  "events match": {
    ...serviceChange,
    fourEyes: true,
    irreversible: true,
    input: z.object({
      event: eventField,
      /** The transaction's. */
      reference: referenceInput,
      sending: seenSending,
      accepts_differences: z
        ._default(z.boolean(), false)
        .register(z.globalRegistry, { description: "match even if type, amount or phone number differ" }),
      why: whySchema,
    }),
    output: z.object({
      reference: z.string(),
      account_id: z.string(),
      status: transactionStatus,
      /** NGN, as `refunded`. */
      amount: nairaAmount,
      refunded: nairaAmount,
      differences: z.array(difference),
    }),
    summary: "Settle a transaction with the outcome of an event",
    command: {
      takes: {
        event: "<event>",
        reference: "<reference>",
        sending: "--sending <sending>",
        accepts_differences: "--although-different",
      },
      example: 'event_mZ0 DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ --why "same number and minute, ticket 88"',
    },
  },
  "events discard": {
    ...serviceChange,
    irreversible: true,
    input: z.object({ event: eventField, why: whySchema }),
    output: z.object({ event: z.string(), state: z.literal("discarded") }),
    summary: "Close an event without applying it",
    command: {
      takes: { event: "<event>" },
      example: 'event_mZ0 --why "the upstream tested, ticket 89"',
    },
  },
} as const satisfies ActionTable;
