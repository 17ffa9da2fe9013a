import { createHash } from "node:crypto";
import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { getItem, getItems } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { ownedKeys } from "../ledger/query-index.ts";
import { EVENTS_OWNER, eventHashOf, eventPk } from "../ledger/schema.ts";
import type { EventMessage, UnreadableMessage } from "../orders/outcome-queue.ts";
import { retryContention } from "../platform/backoff.ts";
import { koboSchema } from "../platform/money.ts";
import { isoTime } from "../platform/time.ts";

/** Why an event that could be read was not applied. */
const eventReason = z.enum([
  /** It speaks against how its transaction ended. */
  "contradiction",
  /** It says `failed`, and nothing but the secret path vouches for it. */
  "unauthenticated",
  /** Its reference is unknown, and no open transaction fits. */
  "no_candidate",
  /** Its reference is unknown, and several open transactions fit. */
  "several_candidates",
  /** Its reference is unknown, and a failure is never matched by guess. */
  "unknown_failure",
]);
export type EventReason = z.infer<typeof eventReason>;

/** The reason of an event that could not be read. */
const UNREADABLE = "unreadable";
const HASH_LENGTH = 32;
const ID_PREFIX = "event_";

/** What operators call an event. */
export const storedEventId = ({ pk }: Pick<StoredEvent, "pk">): string => `${ID_PREFIX}${eventHashOf({ pk })}`;

const kept = {
  pk: z.string(),
  owner: z.literal(EVENTS_OWNER),
  /** `open` until the operator matched or discarded it. */
  state: z.enum(["open", "matched", "discarded"]),
  /** The transaction that it is about, where that is known. */
  transaction: z.string().optional(),
  created_at: z.iso.datetime(),
};

export const readableEventSchema = z.object({
  ...kept,
  reason: eventReason,
  reference: z.string(),
  says: z.enum(["success", "failed"]),
  type: z.string().optional(),
  amount_kobo: koboSchema.optional(),
  phone_masked: z.string().optional(),
});
export type ReadableEvent = z.infer<typeof readableEventSchema>;

/** What it says is not known: it can only be discarded. */
const unreadableRow = z.object({
  ...kept,
  reason: z.literal(UNREADABLE),
  reference: z.string().optional(),
  problem: z.string(),
});

/** What the operator decides about: one item an event, however often it came. */
export const storedEventSchema = z.discriminatedUnion("reason", [readableEventSchema, unreadableRow]);
export type StoredEvent = z.infer<typeof storedEventSchema>;

/** What an event says, in a word or a few. */
export const saysOf = (event: StoredEvent): string => (event.reason === UNREADABLE ? event.problem : event.says);

/** Keeps an event for the operator. A repeat of the same event changes nothing. */
export const recordEvent = (
  ledger: Ledger,
  event: EventMessage,
  reason: EventReason,
  transaction?: string,
): Promise<void> =>
  keep(ledger, {
    ...keptNow(ledger, hashOf(event), transaction),
    reason,
    reference: event.reference,
    says: event.status,
    ...(event.type !== undefined && { type: event.type }),
    ...(event.amount_kobo !== undefined && { amount_kobo: event.amount_kobo }),
    ...(event.phone && { phone_masked: event.phone.masked }),
  });

/** The same for an event that cannot be read. */
export const recordUnreadable = (
  ledger: Ledger,
  { digest, reference, problem }: UnreadableMessage,
  transaction?: string,
): Promise<void> =>
  keep(ledger, {
    ...keptNow(ledger, digest.slice(0, HASH_LENGTH), transaction),
    reason: UNREADABLE,
    ...(reference !== undefined && { reference }),
    problem,
  });

const keptNow = (
  { clock }: Ledger,
  hash: string,
  transaction: string | undefined,
): z.infer<z.ZodObject<typeof kept>> => ({
  pk: eventPk(hash),
  owner: EVENTS_OWNER,
  state: "open",
  ...(transaction !== undefined && { transaction }),
  created_at: isoTime(clock()),
});

const keep = async ({ db, table }: Ledger, Item: StoredEvent): Promise<void> => {
  try {
    const put = new PutCommand({ TableName: table, Item, ConditionExpression: "attribute_not_exists(pk)" });
    await retryContention(() => db.send(put));
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
};

/** The event that an operator names; undefined where there is none. */
export const findEvent = async (ledger: Ledger, id: string): Promise<StoredEvent | undefined> =>
  id.startsWith(ID_PREFIX) ? getItem(ledger, eventPk(id.slice(ID_PREFIX.length)), storedEventSchema) : undefined;

/** The events that were kept from a moment on, oldest first. */
export const listEvents = async (ledger: Ledger, from: string): Promise<readonly StoredEvent[]> =>
  getItems(ledger, await ownedKeys(ledger, EVENTS_OWNER, { from, to: "9999" }), storedEventSchema);

/** Over what the event says, not over when it came. */
const hashOf = ({ reference, status, amount_kobo, type, phone }: EventMessage): string =>
  createHash("sha256")
    .update(JSON.stringify([reference, status, amount_kobo ?? null, type ?? null, phone?.hmac ?? null]))
    .digest("base64url")
    .slice(0, HASH_LENGTH);
