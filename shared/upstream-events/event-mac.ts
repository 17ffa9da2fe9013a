import { timingSafeEqual } from "node:crypto";
import type { EventMessage } from "../orders/outcome-queue.ts";
import type { KeyedHashes } from "../platform/keyed-hashes.ts";

export type UnsignedEvent = Omit<EventMessage, "mac">;

/**
 * What receive-upstream-event puts on an event that an address list or a signature vouches for. Whoever can write to the queue cannot make
 * one: it takes the reference key, and covers every field of the message.
 */
export const eventMac = ({ messageMac }: KeyedHashes, event: UnsignedEvent): string => messageMac(fieldsOf(event));

/** Whether the event's MAC is the one of its own fields. An absent one is not. */
export const hasOwnMac = (keyedHashes: KeyedHashes, { mac, ...event }: EventMessage): boolean => {
  if (mac === undefined) return false;
  const [presented, expected] = [Buffer.from(mac), Buffer.from(eventMac(keyedHashes, event))];
  return presented.length === expected.length && timingSafeEqual(presented, expected);
};

/** Every field, in a fixed order. A field that is added to the message and not here does not compile. */
const fieldsOf = (event: UnsignedEvent): readonly string[] => {
  const { kind, mode, received_at, reference, status, amount_kobo, type, phone, ...others } = event;
  others satisfies Record<string, never>;
  const values = [kind, mode, received_at, reference, status, amount_kobo, type, phone?.hmac, phone?.masked];
  // As JSON an absent value (null) differs from every text.
  return values.map((value) => JSON.stringify(value ?? null));
};
