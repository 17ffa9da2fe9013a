import { timingSafeEqual } from "node:crypto";
import type { EventMessage } from "../orders/outcome-message.ts";
import type { KeyedHashes } from "../platform/keyed-hashes.ts";

export type UnsignedEvent = Omit<EventMessage, "mac">;

/**
 * The mark of an authenticated event, set by receive-upstream-event. It needs the reference key and covers every field,
 * so write access to the queue alone cannot forge one.
 */
export const eventMac = ({ messageMacs }: KeyedHashes, event: UnsignedEvent): string =>
  messageMacs(macFieldsOf(event))[0];

/** Whether the event is authenticated: its MAC is present and matches its fields. */
export const hasValidMac = ({ messageMacs }: KeyedHashes, { mac, ...event }: EventMessage): boolean => {
  if (mac === undefined) return false;
  const presented = Buffer.from(mac);
  return messageMacs(macFieldsOf(event))
    .map((expected) => Buffer.from(expected))
    .some((expected) => presented.length === expected.length && timingSafeEqual(presented, expected));
};

/** Every field, in a fixed order. A field of the message that is missing here does not compile. */
const macFieldsOf = (event: UnsignedEvent): readonly string[] => {
  const { kind, mode, received_at, reference, status, amount_kobo, type, phone, ...others } = event;
  others satisfies Record<string, never>;
  const values = [kind, mode, received_at, reference, status, amount_kobo, type, phone?.key, phone?.masked];
  // In JSON an absent value (null) differs from every string.
  return values.map((value) => JSON.stringify(value ?? null));
};
