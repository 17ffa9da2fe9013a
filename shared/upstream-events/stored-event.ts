import { createHash } from "node:crypto";
import type { PutCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "#zod";
import { type EventReason, eventReasons, unreadableReasons } from "../contract/event-reasons.ts";
import { finalStatus } from "../contract/final-status.ts";
import { koboSchema } from "../contract/values/money.ts";
import { getItem, getItems } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  ALL_TIMES,
  listKeyBatches,
  openEventKeys,
  queryList,
  queryOpen,
  type TimeRange,
} from "../ledger/query-index.ts";
import { EVENTS_LIST, eventHashOf, eventPk, OPEN_EVENTS } from "../ledger/schema.ts";
import { setParts, updateOf } from "../ledger/update-parts.ts";
import type { EventMessage, UnreadableMessage } from "../orders/outcome-message.ts";
import { conditionFailure, unlessRefused } from "../platform/aws/errors.ts";
import { retryContention } from "../platform/backoff.ts";
import { isoTime } from "../platform/time.ts";
import { CLOCK_DIFFERENCE_MS_MAX } from "../platform/time-budgets.ts";

const HASH_LENGTH = 32;
const ID_PREFIX = "event_";

/** The id of an event in operator commands. */
export const storedEventId = ({ pk }: Pick<StoredEvent, "pk">): string => `${ID_PREFIX}${eventHashOf({ pk })}`;

const commonFields = {
  pk: z.string(),
  list_key: z.literal(EVENTS_LIST),
  /** `open` until an operator matches or discards it. */
  state: z.enum(["open", "matched", "discarded"]),
  /** Only while its state is `open`: its place in the list of such events. */
  open: z.optional(z.string()),
  listed_at: z.optional(z.iso.datetime()),
  /** The key of the transaction that it is about, if that is known. */
  transaction_pk: z.optional(z.string()),
  created_at: z.iso.datetime(),
};

export const readableEventSchema = z.object({
  ...commonFields,
  reason: z.enum(eventReasons),
  reference: z.string(),
  /**
   * When it came: it is stored minutes later if its reference is unknown, and much later as a redriven dead letter. Absent
   * of the answer to a lookup.
   */
  received_at: z.optional(z.iso.datetime()),
  says: finalStatus,
  type: z.optional(z.string()),
  amount_kobo: z.optional(koboSchema),
  phone_masked: z.optional(z.string()),
});
export type ReadableEvent = z.infer<typeof readableEventSchema>;

/** It reports no status: it can only be discarded. */
const unreadableEventSchema = z.object({
  ...commonFields,
  reason: z.enum(unreadableReasons),
  reference: z.optional(z.string()),
  problem: z.string(),
});

/** An event that an operator has to decide about: one item, however many copies arrive. */
export const storedEventSchema = z.discriminatedUnion("reason", [readableEventSchema, unreadableEventSchema]);
export type StoredEvent = z.infer<typeof storedEventSchema>;

/** The reported status, or what could not be read. */
export const eventSummary = (event: StoredEvent): string => (isReadable(event) ? event.says : event.problem);

/** When an event came, as far as that is known. */
export const receivedAt = (event: StoredEvent): string =>
  isReadable(event) ? (event.received_at ?? event.created_at) : event.created_at;

/** Whether it reports a status. */
export const isReadable = (event: StoredEvent): event is ReadableEvent => "says" in event;

/** What an event, or the answer to a lookup, reports. Only an event has the key of a phone number. */
export type ReportedOrder = Pick<EventMessage, "reference" | "status" | "amount_kobo" | "type"> & {
  readonly phone?: { readonly key?: string; readonly masked: string } | undefined;
};

/**
 * Stores an event for the operator. A duplicate changes nothing. Resolves with whether the event is open. `claim`: of the
 * sending that it is a case of.
 */
export const recordEvent = (
  ledger: Ledger,
  event: ReportedOrder | EventMessage,
  reason: EventReason,
  transactionPk?: string,
  claim?: string,
): Promise<boolean> =>
  store(ledger, {
    ...newEvent(ledger, storedEventPk(event, claim), transactionPk),
    reason,
    reference: event.reference,
    says: event.status,
    ...("received_at" in event && { received_at: event.received_at }),
    ...(event.type !== undefined && { type: event.type }),
    ...(event.amount_kobo !== undefined && { amount_kobo: event.amount_kobo }),
    ...(event.phone && { phone_masked: event.phone.masked }),
  });

/** Stores an event that cannot be read. */
export const recordUnreadable = (
  ledger: Ledger,
  { digest, reference, problem }: UnreadableMessage,
  transactionPk?: string,
): Promise<boolean> =>
  store(ledger, {
    ...newEvent(ledger, eventPk(digest.slice(0, HASH_LENGTH)), transactionPk),
    reason: "unreadable",
    ...(reference !== undefined && { reference }),
    problem,
  });

/** Stores that the upstream does not know a sending of an order, by the reference that it was asked for. */
export const recordNotFound = (
  ledger: Ledger,
  transactionPk: string,
  reference: string,
  claim: string | undefined,
): Promise<boolean> =>
  store(ledger, {
    ...newEvent(ledger, eventPk(hashOf(["not_found", transactionPk, claim ?? null])), transactionPk),
    reason: "not_found",
    reference,
    problem: NOT_FOUND,
  });
const NOT_FOUND = "the upstream does not know the order";

const newEvent = (
  { clock }: Ledger,
  pk: string,
  transactionPk: string | undefined,
): z.infer<z.ZodMiniObject<typeof commonFields>> => {
  const now = isoTime(clock());
  return {
    pk,
    list_key: EVENTS_LIST,
    state: "open",
    open: OPEN_EVENTS,
    listed_at: now,
    ...(transactionPk !== undefined && { transaction_pk: transactionPk }),
    created_at: now,
  };
};

const store = async ({ db, table }: Ledger, event: StoredEvent): Promise<boolean> => {
  const put: PutCommandInput = {
    ...{ TableName: table, Item: event, ConditionExpression: "attribute_not_exists(pk)" },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  };
  const failure = await conditionFailure(retryContention(() => db.put(put)));
  return failure === undefined || failure.Item?.open !== undefined;
};

/** Gives an event that is still open another reason, and the transaction that it is about, if that is known. */
export const changeReason = async (
  { db, table }: Ledger,
  pk: string,
  reason: EventReason,
  transaction_pk?: string,
): Promise<void> => {
  const update = updateOf(setParts({ reason, transaction_pk }), {
    conditions: ["#state = :open"],
    names: { "#state": "state" },
    values: { ":open": "open" },
  });
  await unlessRefused(retryContention(() => db.update({ TableName: table, Key: { pk }, ...update })));
};

export const findEvent = async (ledger: Ledger, id: string): Promise<StoredEvent | undefined> =>
  id.startsWith(ID_PREFIX) ? getItem(ledger, eventPk(id.slice(ID_PREFIX.length)), storedEventSchema) : undefined;

/** Events are kept for ever, so that no list reads all of them. */
const LISTED_EVENTS_MAX = 500;

/** The times of events that may be about an order of this time. The clocks that date both differ. */
const timesSince = (placedAt: string): TimeRange => ({
  from: isoTime(Date.parse(placedAt) - CLOCK_DIFFERENCE_MS_MAX),
  to: ALL_TIMES.to,
});

/** The first events that were stored since an order was placed, oldest first. */
export const listEvents = async (ledger: Ledger, placedAt: string): Promise<readonly StoredEvent[]> => {
  const { keys } = await queryList(ledger, EVENTS_LIST, timesSince(placedAt), undefined, { oldest: LISTED_EVENTS_MAX });
  return getItems(ledger, keys, storedEventSchema);
};

/** All events with a phone number that were stored since an order was placed, oldest first. */
export const eventsWithPhone = async (ledger: Ledger, placedAt: string): Promise<readonly ReadableEvent[]> => {
  const events: ReadableEvent[] = [];
  for await (const keys of listKeyBatches(ledger, EVENTS_LIST, timesSince(placedAt))) {
    const stored = await getItems(ledger, keys, storedEventSchema);
    events.push(...stored.filter(isReadable).filter(({ phone_masked }) => phone_masked !== undefined));
  }
  return events;
};

/** The events that wait for an operator, oldest first. */
export const openEvents = async (ledger: Ledger): Promise<readonly StoredEvent[]> => {
  const { keys } = await queryOpen(ledger, OPEN_EVENTS, ALL_TIMES, undefined, { oldest: LISTED_EVENTS_MAX });
  // The index lags: some may be closed.
  return (await getItems(ledger, keys, storedEventSchema)).filter(({ state }) => state === "open");
};

/** How many they are. Of more than a list shows, the keys alone are counted. */
export const countOpenEvents = async (ledger: Ledger): Promise<number> => {
  const { length } = await openEventKeys(ledger);
  return length > LISTED_EVENTS_MAX ? length : (await openEvents(ledger)).length;
};

/** The events that were stored last, oldest first. */
export const latestEvents = async (ledger: Ledger): Promise<readonly StoredEvent[]> => {
  const { keys } = await queryList(ledger, EVENTS_LIST, ALL_TIMES, undefined, { newest: LISTED_EVENTS_MAX });
  return (await getItems(ledger, keys, storedEventSchema)).toReversed();
};

/**
 * The key under which an event is stored. It excludes the time of arrival, so copies of an event have one; of a case of one
 * sending it has the claim, because what was decided about a sending says nothing of the next.
 */
export const storedEventPk = (
  { reference, status, amount_kobo, type, phone }: ReportedOrder | EventMessage,
  claim?: string,
): string => eventPk(hashOf([reference, status, amount_kobo ?? null, type ?? null, phone?.key ?? null, claim ?? null]));

const hashOf = (values: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(values)).digest("base64url").slice(0, HASH_LENGTH);
