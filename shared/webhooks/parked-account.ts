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
 * When an account's parked deliveries are requeued next. There is one for each account that ever had some. It is never
 * deleted: a delivery that is parked at the same time would be forgotten.
 */
export const parkedAccountSchema = z.object({
  pk: z.string(),
  account_id: z.string(),
  open: z.literal(PARKED_ACCOUNTS),
  /** The time of the next requeue: the sort key of the index. */
  created_at: z.iso.datetime(),
  /** The last delivery that the previous requeue read, if the list did not end there. */
  after: indexKeySchema.optional(),
  /** When the first delivery before `after` is due. */
  rest_due_at: z.iso.datetime().optional(),
  /** The previous requeue found nothing. */
  was_empty: z.literal(true).optional(),
});
export type ParkedAccount = z.infer<typeof parkedAccountSchema>;

export const readParkedAccount = (ledger: Ledger, accountId: string): Promise<ParkedAccount | undefined> =>
  getItem(ledger, parkedAccountPk(accountId), parkedAccountSchema);

/** Schedules the next requeue of an account's parked deliveries for this time, unless it is earlier already. */
export const scheduleRequeue = async (ledger: Ledger, accountId: string, atMs: number): Promise<void> => {
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

/** Sets the time of the next requeue, unless another process has changed it since `parked` was read. */
export const setNextRequeue = (
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
    // Another process has set an earlier time, or requeues the same deliveries.
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
};
