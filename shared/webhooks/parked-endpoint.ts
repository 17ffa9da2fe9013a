import * as z from "#zod";
import { getItem } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { putIf } from "../ledger/put-if.ts";
import { openKeySchema } from "../ledger/query-index.ts";
import { type EndpointKey, endpointOf, PARKED_ENDPOINTS, parkedEndpointPk } from "../ledger/schema.ts";
import { isoTime } from "../platform/time.ts";
import { SCHEDULE_MS } from "../platform/time-budgets.ts";

/**
 * When an endpoint's parked deliveries are requeued next. There is one for each endpoint that ever had some. It is never
 * deleted: a delivery that is parked at the same time would be forgotten.
 */
export const parkedEndpointSchema = z.object({
  pk: z.string(),
  account_id: z.string(),
  endpoint: z.string(),
  open: z.literal(PARKED_ENDPOINTS),
  /** The time of the next requeue. */
  listed_at: z.iso.datetime(),
  /** The last delivery that the previous requeue read, if the list did not end there. */
  after: z.optional(openKeySchema),
  /** When the first delivery is due that was before `after`, or was parked while a requeue was due or under way. */
  rest_due_at: z.optional(z.iso.datetime()),
  /** The previous requeue found nothing. */
  was_empty: z.optional(z.literal(true)),
});
export type ParkedEndpoint = z.infer<typeof parkedEndpointSchema>;
/** What changes with each requeue. */
export type NextRequeue = Omit<ParkedEndpoint, "pk" | "account_id" | "endpoint" | "open">;

export const readParkedEndpoint = (ledger: Ledger, endpoint: EndpointKey): Promise<ParkedEndpoint | undefined> =>
  getItem(ledger, parkedEndpointPk(endpoint), parkedEndpointSchema);

/** An index may show an entry so late. DynamoDB's are usually there within a second. */
const INDEX_LAG_MS = 10_000;
/** Two processes rarely write the same endpoint's item twice in a row. */
const ATTEMPTS_MAX = 5;

/**
 * Schedules the next requeue of an endpoint's parked deliveries for this time, unless it is earlier already. A requeue
 * that is due may have read the list already, or may not see the delivery in the index: it gets the time too.
 */
export const scheduleRequeue = async (ledger: Ledger, key: EndpointKey, atMs: number): Promise<void> => {
  const at = isoTime(atMs);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const known = await readParkedEndpoint(ledger, key);
    if (known === undefined || known.listed_at > at) {
      const item: ParkedEndpoint = {
        pk: parkedEndpointPk(key),
        account_id: key.accountId,
        endpoint: key.endpoint,
        open: PARKED_ENDPOINTS,
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
  parked: ParkedEndpoint,
  next: (parked: ParkedEndpoint) => NextRequeue,
): Promise<void> => {
  const { pk, account_id, endpoint, open, listed_at } = parked;
  let current = parked;
  while (!(await putUnchanged(ledger, current, { pk, account_id, endpoint, open, ...next(current) }))) {
    const stored = await readParkedEndpoint(ledger, endpointOf(parked));
    if (stored?.listed_at !== listed_at) return;
    current = stored;
  }
};

/** Replaces the item if its times are those that were read; resolves with whether they were. */
const putUnchanged = (ledger: Ledger, read: ParkedEndpoint, item: ParkedEndpoint): Promise<boolean> => {
  const { listed_at, rest_due_at } = read;
  const isRest = rest_due_at === undefined ? "attribute_not_exists(rest_due_at)" : "rest_due_at = :rest";
  return putIf(ledger, item, {
    ConditionExpression: `listed_at = :read AND ${isRest}`,
    ExpressionAttributeValues: { ":read": listed_at, ":rest": rest_due_at },
  });
};
