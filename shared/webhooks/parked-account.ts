import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { getItem } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { indexKeySchema } from "../ledger/query-index.ts";
import { PARKED_ACCOUNTS, parkedAccountPk } from "../ledger/schema.ts";
import { retryContention } from "../platform/backoff.ts";
import { isoTime } from "../platform/time.ts";

/**
 * When an account's parked deliveries are looked at next. There is one for each account that ever had some; it is never
 * deleted, so no delivery can be parked behind a deletion.
 */
export const parkedAccountSchema = z.object({
  pk: z.string(),
  account_id: z.string(),
  open: z.literal(PARKED_ACCOUNTS),
  /** The time of the next look: the sort key of the index. */
  created_at: z.iso.datetime(),
  /** The last delivery of the previous look, if the list did not end there. */
  after: indexKeySchema.optional(),
  /** When something is due that earlier looks at this list have passed. */
  rest_due_at: z.iso.datetime().optional(),
  /** The previous look found nothing. */
  was_empty: z.literal(true).optional(),
});
export type ParkedAccount = z.infer<typeof parkedAccountSchema>;

export const readParkedAccount = (ledger: Ledger, accountId: string): Promise<ParkedAccount | undefined> =>
  getItem(ledger, parkedAccountPk(accountId), parkedAccountSchema);

/** Has an account's parked deliveries looked at until this time, unless that will happen anyway. */
export const lookUntil = async (ledger: Ledger, accountId: string, atMs: number): Promise<void> => {
  const at = isoTime(atMs);
  const known = await readParkedAccount(ledger, accountId);
  if (known !== undefined && known.created_at <= at) return;
  await put(
    ledger,
    { pk: parkedAccountPk(accountId), account_id: accountId, open: PARKED_ACCOUNTS, created_at: at },
    "attribute_not_exists(pk) OR created_at > :time",
    at,
  );
};

/** Sets the next look, unless another one was asked for since this one was read. */
export const setNextLook = (
  ledger: Ledger,
  { pk, account_id, open, created_at }: ParkedAccount,
  next: Omit<ParkedAccount, "pk" | "account_id" | "open">,
): Promise<void> => put(ledger, { pk, account_id, open, ...next }, "created_at = :time", created_at);

const put = async (ledger: Ledger, item: ParkedAccount, condition: string, time: string): Promise<void> => {
  const command = new PutCommand({
    TableName: ledger.table,
    Item: item,
    ConditionExpression: condition,
    ExpressionAttributeValues: { ":time": time },
  });
  try {
    await retryContention(() => ledger.db.send(command));
  } catch (error) {
    // Somebody else has set an earlier time, or looks too.
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
};
