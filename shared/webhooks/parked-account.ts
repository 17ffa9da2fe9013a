import * as z from "zod";
import { getItem } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { putIf } from "../ledger/put-if.ts";
import { openKeySchema } from "../ledger/query-index.ts";
import { PARKED_ACCOUNTS, parkedAccountPk } from "../ledger/schema.ts";
import { isoTime } from "../platform/time.ts";
import { SCHEDULE_MS } from "../platform/time-budgets.ts";

/**
 * When an account's parked deliveries are requeued next. There is one for each account that ever had some. It is never
 * deleted: a delivery that is parked at the same time would be forgotten.
 */
export const parkedAccountSchema = z.object({
  pk: z.string(),
  account_id: z.string(),
  open: z.literal(PARKED_ACCOUNTS),
  /** The time of the next requeue. */
  listed_at: z.iso.datetime(),
  /** The last delivery that the previous requeue read, if the list did not end there. */
  after: openKeySchema.optional(),
  /** When the first delivery is due that was before `after`, or was parked while a requeue was due or under way. */
  rest_due_at: z.iso.datetime().optional(),
  /** The previous requeue found nothing. */
  was_empty: z.literal(true).optional(),
});
export type ParkedAccount = z.infer<typeof parkedAccountSchema>;
/** What changes with each requeue. */
export type NextRequeue = Omit<ParkedAccount, "pk" | "account_id" | "open">;

export const readParkedAccount = (ledger: Ledger, accountId: string): Promise<ParkedAccount | undefined> =>
  getItem(ledger, parkedAccountPk(accountId), parkedAccountSchema);

/** An index may show an entry so late. DynamoDB's are usually there within a second. */
const INDEX_LAG_MS = 10_000;
/** Two processes rarely write the same account's item twice in a row. */
const ATTEMPTS_MAX = 5;

/**
 * Schedules the next requeue of an account's parked deliveries for this time, unless it is earlier already. A requeue
 * that is due may have read the list already, or may not see the delivery in the index: it gets the time too.
 */
export const scheduleRequeue = async (ledger: Ledger, accountId: string, atMs: number): Promise<void> => {
  const at = isoTime(atMs);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const known = await readParkedAccount(ledger, accountId);
    if (known === undefined || known.listed_at > at) {
      const item: ParkedAccount = {
        pk: parkedAccountPk(accountId),
        account_id: accountId,
        open: PARKED_ACCOUNTS,
        listed_at: at,
      };
      const when = {
        ConditionExpression: "attribute_not_exists(pk) OR listed_at > :at",
        ExpressionAttributeValues: { ":at": at },
      };
      if (await putIf(ledger, item, when)) return;
    } else {
      const isLater = known.listed_at > isoTime(ledger.clock() + INDEX_LAG_MS);
      // Runs begin each minute: many deliveries that are parked together need one write.
      const isKnown = known.rest_due_at !== undefined && known.rest_due_at <= isoTime(atMs + SCHEDULE_MS);
      if (isLater || isKnown) return;
      if (await putUnchanged(ledger, known, { ...known, rest_due_at: at })) return;
    }
  }
  throw new Error("The item of parked deliveries keeps changing");
};

/**
 * Sets the time of the next requeue, unless another process has changed it since `parked` was read. `next` is called
 * again with a time that was added since.
 */
export const setNextRequeue = async (
  ledger: Ledger,
  parked: ParkedAccount,
  next: (parked: ParkedAccount) => NextRequeue,
): Promise<void> => {
  const { pk, account_id, open, listed_at } = parked;
  let current = parked;
  while (!(await putUnchanged(ledger, current, { pk, account_id, open, ...next(current) }))) {
    const stored = await readParkedAccount(ledger, account_id);
    if (stored?.listed_at !== listed_at) return;
    current = stored;
  }
};

/** Replaces the item if its times are those that were read; resolves with whether they were. */
const putUnchanged = (ledger: Ledger, read: ParkedAccount, item: ParkedAccount): Promise<boolean> => {
  const { listed_at, rest_due_at } = read;
  const isRest = rest_due_at === undefined ? "attribute_not_exists(rest_due_at)" : "rest_due_at = :rest";
  return putIf(ledger, item, {
    ConditionExpression: `listed_at = :read AND ${isRest}`,
    ExpressionAttributeValues: { ":read": listed_at, ...(rest_due_at !== undefined && { ":rest": rest_due_at }) },
  });
};
