import * as z from "#zod";
import { replaceableObject } from "../contract/lazy-object.ts";
import { MINUTE_MS } from "../contract/values/durations.ts";
import { getItem, getItems, type OnUnreadable } from "../ledger/get-item.ts";
import type { Table } from "../ledger/ledger.ts";
import { notifiedPk } from "../ledger/schema.ts";
import type { Channel, Recipient } from "./recipient.ts";

const sentSchema = replaceableObject(() => ({
  /** When the recipient was last notified of the finding. */
  at: z.iso.datetime(),
  /** Whether the last run found it, and since when runs have seen this. */
  status: z.enum(["lasts", "ended"]),
  since: z.iso.datetime(),
}));
export type Sent = z.infer<typeof sentSchema>;

const channelSchema = replaceableObject(() => ({
  /** By the keys of findings. */
  sent: z.record(z.string(), sentSchema),
  /** Only if the last attempt failed, and of the choice with this version. */
  failing: z.optional(replaceableObject(() => ({ version: z.int(), attempts: z.int(), next_at: z.iso.datetime() }))),
}));
export type NotifiedBy = z.infer<typeof channelSchema>;

/**
 * What a recipient was notified of. It is an item of its own, because `send-notifications`, which connects to hosts that
 * people choose, must not write what people chose.
 */
export const notifiedSchema = replaceableObject(() => ({
  pk: z.string(),
  by_email: z.optional(channelSchema),
  by_slack: z.optional(channelSchema),
}));
export type Notified = z.infer<typeof notifiedSchema>;

export const readNotified = (table: Table, personId: string): Promise<Notified | undefined> =>
  getItem(table, notifiedPk(personId), notifiedSchema);

export const listNotified = (
  table: Table,
  personIds: readonly string[],
  onUnreadable?: OnUnreadable,
): Promise<readonly Notified[]> => getItems(table, personIds.map(notifiedPk), notifiedSchema, onUnreadable);

/** Attempts that follow each other without a success: the last one is about 11 hours after the first. */
const ATTEMPTS_MAX = 8;
const RETRY_MS = 5 * MINUTE_MS;

/** The failures of a channel as its recipient has chosen it last. */
export const failureOf = (
  { version }: Pick<Recipient, "version">,
  notified: Notified | undefined,
  channel: Channel,
): NonNullable<NotifiedBy["failing"]> | undefined => {
  const failing = notified?.[`by_${channel}`]?.failing;
  return failing?.version === version ? failing : undefined;
};

/** Nothing is sent any more until the person chooses again. */
export const isGivenUp = ({ attempts }: NonNullable<NotifiedBy["failing"]>): boolean => attempts >= ATTEMPTS_MAX;

/** How long the next attempt waits after this one: 5 minutes after the first, twice as long after each further one. */
export const retryMsAfter = (attempts: number): number => RETRY_MS * 2 ** (attempts - 1);
