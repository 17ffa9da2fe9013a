import { createHash } from "node:crypto";
import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { koboSchema } from "../platform/money.ts";
import { isoTime } from "../platform/time.ts";
import { ownedKeys } from "../wallet/index-pages.ts";
import type { Ledger } from "../wallet/ledger.ts";
import type { EventMessage } from "./status-queue.ts";

/** Why an event was not applied. */
const eventReason = z.enum([
  /** It speaks against how its transaction ended. */
  "contradiction",
  /** It says `failed`, and nothing but the secret path vouches for it. */
  "not_vouched_for",
  /** Its reference is unknown, and no open transaction fits. */
  "no_candidate",
  /** Its reference is unknown, and several open transactions fit. */
  "several_candidates",
  /** Its reference is unknown, and a failure is never matched by guess. */
  "unknown_failure",
]);
export type EventReason = z.infer<typeof eventReason>;

/** The owner under which events stand in the index by time. */
export const EVENTS_OWNER = "events";
const PK_PREFIX = "event#";
const ID_PREFIX = "event_";

/** What operators call an event. */
export const eventId = ({ pk }: Pick<EventRow, "pk">): string => `${ID_PREFIX}${pk.slice(PK_PREFIX.length)}`;

/** What the operator decides about: one item an event, however often it came. */
export const eventRow = z.object({
  pk: z.string(),
  owner: z.literal(EVENTS_OWNER),
  reason: eventReason,
  /** `open` until the operator matched or discarded it. */
  state: z.enum(["open", "matched", "discarded"]),
  reference: z.string(),
  says: z.enum(["success", "failed"]),
  type: z.string(),
  amount_kobo: koboSchema.optional(),
  phone_masked: z.string().optional(),
  /** The transaction that it is about, where that is known. */
  transaction: z.string().optional(),
  created_at: z.iso.datetime(),
});
export type EventRow = z.infer<typeof eventRow>;

/** Keeps an event for the operator. A repeat of the same event changes nothing. */
export const recordEvent = async (
  { db, table, clock }: Ledger,
  event: EventMessage,
  reason: EventReason,
  transaction?: string,
): Promise<void> => {
  const Item: EventRow = {
    pk: `${PK_PREFIX}${hashOf(event)}`,
    owner: EVENTS_OWNER,
    reason,
    state: "open",
    reference: event.reference,
    says: event.status,
    type: event.type,
    ...(event.amount_kobo !== undefined && { amount_kobo: event.amount_kobo }),
    ...(event.phone && { phone_masked: event.phone.masked }),
    ...(transaction !== undefined && { transaction }),
    created_at: isoTime(clock()),
  };
  try {
    await db.send(new PutCommand({ TableName: table, Item, ConditionExpression: "attribute_not_exists(pk)" }));
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
};

/** The event that an operator names; undefined where there is none. */
export const findEvent = async (ledger: Ledger, id: string): Promise<EventRow | undefined> =>
  id.startsWith(ID_PREFIX) ? readEvent(ledger, `${PK_PREFIX}${id.slice(ID_PREFIX.length)}`) : undefined;

const readEvent = async ({ db, table }: Ledger, pk: string): Promise<EventRow | undefined> => {
  const { Item } = await db.send(new GetCommand({ TableName: table, Key: { pk }, ConsistentRead: true }));
  return Item && eventRow.parse(Item);
};

/** The events that were kept from a moment on, oldest first. */
export const listEvents = async (ledger: Ledger, from: string): Promise<readonly EventRow[]> => {
  const keys = await ownedKeys(ledger, EVENTS_OWNER, { from, to: "9999" });
  const events = await Promise.all(keys.map(({ pk }) => readEvent(ledger, pk)));
  return events.filter((event) => event !== undefined);
};

/** Over what the event says, not over when it came. */
const hashOf = ({ reference, status, amount_kobo, type, phone }: EventMessage): string =>
  createHash("sha256")
    .update(JSON.stringify([reference, status, amount_kobo ?? null, type, phone?.hmac ?? null]))
    .digest("base64url")
    .slice(0, 32);
