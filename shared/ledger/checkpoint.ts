import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { retryContention } from "../platform/backoff.ts";
import { EPOCH } from "../platform/time.ts";
import type { Ledger } from "./transact.ts";

/**
 * Where the sum of all that was created up to a moment is kept, so that a proof stays short. What has ended never changes; what is
 * still open is kept by its key, and read again each time.
 */
const checkpointSchema = z.object({
  pk: z.string(),
  account_id: z.string(),
  /** An open transaction counts as debited. */
  sum_kobo: z.int(),
  up_to: z.iso.datetime(),
  /** The version that the wallet had if only this sum had moved it. An earlier release did not keep it. */
  version: z.int().optional(),
  /** The transactions of this sum that were open when they were last read. */
  open_keys: z.array(z.string()).default([]),
  proved_at: z.iso.datetime(),
  /** Of the latest proof. Two in a row that are not 0 are a mismatch. */
  difference_kobo: z.int(),
});
export type Checkpoint = z.infer<typeof checkpointSchema>;

const checkpointPk = (accountId: string): string => `proof#${accountId}`;

/** The checkpoint of a wallet that was never proved: a proof from it reads everything. */
export const firstCheckpoint = (accountId: string) =>
  ({
    pk: checkpointPk(accountId),
    account_id: accountId,
    sum_kobo: 0,
    up_to: EPOCH,
    version: 0,
    open_keys: [],
    proved_at: EPOCH,
    difference_kobo: 0,
  }) satisfies Checkpoint;

export const readCheckpoint = async ({ db, table }: Ledger, accountId: string): Promise<Checkpoint> => {
  const Key = { pk: checkpointPk(accountId) };
  const { Item } = await db.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }));
  return Item === undefined ? firstCheckpoint(accountId) : checkpointSchema.parse(Item);
};

export const writeCheckpoint = async ({ db, table }: Ledger, checkpoint: Checkpoint): Promise<void> => {
  const put = new PutCommand({ TableName: table, Item: checkpoint });
  await retryContention(() => db.send(put));
};

/** Writes nothing where the checkpoint is not `before` any more: another run has read more of this wallet meanwhile. */
export const replaceCheckpoint = async ({ db, table }: Ledger, before: Checkpoint, next: Checkpoint): Promise<void> => {
  try {
    const put = new PutCommand({
      TableName: table,
      Item: next,
      ConditionExpression: "attribute_not_exists(pk) OR (proved_at = :proved_at AND up_to = :up_to)",
      ExpressionAttributeValues: { ":proved_at": before.proved_at, ":up_to": before.up_to },
    });
    await retryContention(() => db.send(put));
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
};
