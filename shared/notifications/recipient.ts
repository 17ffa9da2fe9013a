import * as z from "#zod";
import { notificationKind } from "../contract/notification-kinds.ts";
import { getItem, getItems, type OnUnreadable } from "../ledger/get-item.ts";
import type { Table } from "../ledger/ledger.ts";
import { ALL_TIMES, listKeys } from "../ledger/query-index.ts";
import { RECIPIENTS_LIST, recipientPk } from "../ledger/schema.ts";
import { seal, sealingKey, unseal } from "../platform/seal.ts";
import type { Secret } from "../platform/secrets.ts";

export const channels = ["email", "slack"] as const;
export type Channel = (typeof channels)[number];

const kinds = z.array(notificationKind).check(z.minLength(1));

/**
 * What a person chose to be notified of, and how, in the ledger table. It is never deleted: without `list_key` the person
 * gets nothing, and no address is kept.
 */
export const recipientSchema = z.object({
  pk: z.string(),
  /** As audit entries name the person. */
  by: z.string(),
  /** Rises with each choice: what failed before does not count. */
  version: z.int(),
  /** `address` was subscribed. E-mails go to what the provider verifies now (recipient-access.ts). */
  email: z.optional(z.object({ address: z.string(), kinds })),
  /** `url` is sealed, in Base64: it lets everybody who has it write to the channel. */
  slack: z.optional(z.object({ host: z.string(), url: z.string(), kinds })),
  list_key: z.optional(z.literal(RECIPIENTS_LIST)),
  created_at: z.iso.datetime(),
});
export type Recipient = z.infer<typeof recipientSchema>;

/** `personId` is a hash of how the provider names the person (shared/access/person-item.ts). */
export const readRecipient = (table: Table, personId: string): Promise<Recipient | undefined> =>
  getItem(table, recipientPk(personId), recipientSchema);

/** Everybody who chose something, the first one first. */
export const listRecipients = async (table: Table, onUnreadable?: OnUnreadable): Promise<readonly Recipient[]> => {
  const keys = await listKeys(table, RECIPIENTS_LIST, ALL_TIMES);
  const items = await getItems(table, keys, recipientSchema, onUnreadable);
  // The index lags: some may have stopped.
  return items.filter(({ list_key }) => list_key !== undefined);
};

/** A URL sealed for one recipient, in Base64. */
export const sealUrl = async (secret: Secret, pk: string, url: string): Promise<string> =>
  seal(await sealingKey(secret), pk, Buffer.from(url)).toString("base64");

export const openUrl = async (secret: Secret, pk: string, sealed: string): Promise<string> =>
  unseal(await sealingKey(secret), pk, Buffer.from(sealed, "base64")).toString("utf8");
