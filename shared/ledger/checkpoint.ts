import type { PutCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "#zod";
import { retryContention } from "../platform/backoff.ts";
import { EPOCH } from "../platform/time.ts";
import { getItem, getItemsByPk } from "./get-item.ts";
import type { Ledger } from "./ledger.ts";
import { putIf } from "./put-if.ts";
import { checkpointPk } from "./schema.ts";

/**
 * The balance after everything that was created in a wallet up to a moment, so a reconciliation reads only what is
 * newer. Settled transactions never change; open ones are listed by their keys and read again each time.
 */
export const checkpointSchema = z.object({
  pk: z.string(),
  account_id: z.string(),
  /** The balance after that history. An open transaction counts as debited. */
  balance_kobo: z.int(),
  up_to: z.iso.datetime(),
  /** The version of the wallet after that history. */
  version: z.int(),
  /** The transactions of that history that were open when they were last read. */
  open_keys: z.array(z.string()),
  /** When the wallet was last reconciled. */
  reconciled_at: z.iso.datetime(),
  /** Of the latest reconciliation. Two in a row that are not 0 are a mismatch. */
  difference_kobo: z.int(),
});
export type Checkpoint = z.infer<typeof checkpointSchema>;

/** The checkpoint of a wallet that was never reconciled: a reconciliation from it reads everything. */
export const firstCheckpoint = (accountId: string): Checkpoint => ({
  pk: checkpointPk(accountId),
  account_id: accountId,
  balance_kobo: 0,
  up_to: EPOCH,
  version: 0,
  open_keys: [],
  reconciled_at: EPOCH,
  difference_kobo: 0,
});

export const readCheckpoint = async (ledger: Ledger, accountId: string): Promise<Checkpoint> =>
  (await getItem(ledger, checkpointPk(accountId), checkpointSchema)) ?? firstCheckpoint(accountId);

/**
 * The checkpoints of many accounts, read in batches. The function throws for an account whose checkpoint cannot be
 * parsed, so that one item does not stop the others.
 */
export const readCheckpoints = async (
  ledger: Ledger,
  accountIds: readonly string[],
): Promise<(accountId: string) => Checkpoint> => {
  const stored = await getItemsByPk(ledger, accountIds.map(checkpointPk), z.looseObject({ pk: z.string() }));
  return (accountId) => {
    const item = stored.get(checkpointPk(accountId));
    return item === undefined ? firstCheckpoint(accountId) : checkpointSchema.parse(item);
  };
};

export const writeCheckpoint = async ({ db, table }: Ledger, checkpoint: Checkpoint): Promise<void> => {
  const put: PutCommandInput = { TableName: table, Item: checkpoint };
  await retryContention(() => db.put(put));
};

/** Writes nothing if another run has replaced `before`. */
export const replaceCheckpoint = async (ledger: Ledger, before: Checkpoint, next: Checkpoint): Promise<void> => {
  await putIf(ledger, next, {
    ConditionExpression: "attribute_not_exists(pk) OR (reconciled_at = :reconciled_at AND up_to = :up_to)",
    ExpressionAttributeValues: { ":reconciled_at": before.reconciled_at, ":up_to": before.up_to },
  });
};
