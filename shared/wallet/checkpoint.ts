import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { Ledger } from "./ledger.ts";

/**
 * Where the sum of all that was created up to a moment is kept, so that a proof stays short. It reaches only as far as nothing is
 * open: final states never change, and so neither does the sum.
 */
const checkpointRow = z.object({
  pk: z.string(),
  account_id: z.string(),
  sum_kobo: z.int(),
  up_to: z.iso.datetime(),
  proved_at: z.iso.datetime(),
  /** Of the latest proof. Two equal ones in a row are believed. */
  difference_kobo: z.int(),
});
export type Checkpoint = z.infer<typeof checkpointRow>;

const THE_BEGINNING = "1970-01-01T00:00:00.000Z";

const checkpointPk = (accountId: string): string => `proof#${accountId}`;

/** The checkpoint of a wallet that was never proved: a proof from it reads everything. */
export const firstCheckpoint = (accountId: string): Checkpoint => ({
  pk: checkpointPk(accountId),
  account_id: accountId,
  sum_kobo: 0,
  up_to: THE_BEGINNING,
  proved_at: THE_BEGINNING,
  difference_kobo: 0,
});

export const readCheckpoint = async ({ db, table }: Ledger, accountId: string): Promise<Checkpoint> => {
  const Key = { pk: checkpointPk(accountId) };
  const { Item } = await db.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }));
  return Item === undefined ? firstCheckpoint(accountId) : checkpointRow.parse(Item);
};

export const writeCheckpoint = async ({ db, table }: Ledger, checkpoint: Checkpoint): Promise<void> => {
  await db.send(new PutCommand({ TableName: table, Item: checkpoint }));
};
