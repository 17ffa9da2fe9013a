import * as z from "#zod";
import { atOncePercent } from "../contract/actions/refund-clock.ts";
import { counted } from "../contract/values/counted.ts";
import { DAY_MS, HOUR_MS } from "../contract/values/durations.ts";
import { dateIn, datesUntil, dayStartMs } from "../contract/values/time-zone.ts";
import type { AuditPut } from "../ledger/audit.ts";
import { BATCHES_AT_ONCE, getItem } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { accountIdsOf, type IndexKey, queryListedItems } from "../ledger/query-index.ts";
import { FLOAT_PAYMENTS_LIST, FLOAT_PK, floatPaymentPk } from "../ledger/schema.ts";
import { transactWithRetry } from "../ledger/transact.ts";
import { setParts, updateOf } from "../ledger/update-parts.ts";
import { hasConditionFailed } from "../platform/aws/errors.ts";
import { retryContention } from "../platform/backoff.ts";
import { type Deadline, deadlineWithin } from "../platform/deadline.ts";
import { errorFields, log, putMetrics } from "../platform/log.ts";
import { mapInOrder } from "../platform/map-in-order.ts";
import { EPOCH, isoTime } from "../platform/time.ts";
import { ADD_SUMS_MS_MAX, RUN_RESERVE_MS } from "../platform/time-budgets.ts";
import { isTransient } from "../platform/transient-error.ts";
import {
  type AccountConsumption,
  accountsBehind,
  advanceSums,
  consumedKobo,
  type LedgerInZone,
  readSumsSince,
  SETTLED_AGE_MS,
  sumsAndOrders,
  sumsInParts,
} from "./order-sums.ts";

/** What we have paid to the upstream, and when the float was measured last. */
export const floatSchema = z.object({
  pk: z.string(),
  /** Absent until a payment is booked. */
  payments_kobo: z.optional(z.int()),
  /** How many make the sum: of two ledgers the one with more has the later sum, which a correction may have lowered. */
  payments: z.optional(z.int()),
  measured_at: z._default(z.iso.datetime(), EPOCH),
  hours_left: z.optional(z.number()),
  /** Of the purchases of the last 24 hours that have ended, those that ended within 30 s; absent of few. */
  at_once_percent: z.optional(z.number()),
});

/** A payment to the upstream, or a correction of one, which may be negative: it is booked once by its reference. */
export const floatPaymentSchema = z.object({
  pk: z.string(),
  list_key: z.literal(FLOAT_PAYMENTS_LIST),
  payment_id: z.string(),
  amount_kobo: z.int(),
  /** Who booked it. */
  by: z.string(),
  created_at: z.iso.datetime(),
});
export type FloatPayment = z.infer<typeof floatPaymentSchema>;

/**
 * Books a payment to the upstream, once per id, together with the operator's audit entry. `already_recorded`: the id was
 * used, perhaps with another amount; nothing was written.
 */
export const recordPayment = async (
  ledger: Ledger,
  { paymentId, amountKobo, by }: { readonly paymentId: string; readonly amountKobo: number; readonly by: string },
  audit: AuditPut,
) => {
  const Item: FloatPayment = {
    pk: floatPaymentPk(paymentId),
    list_key: FLOAT_PAYMENTS_LIST,
    payment_id: paymentId,
    amount_kobo: amountKobo,
    by,
    created_at: isoTime(ledger.clock()),
  };
  try {
    await transactWithRetry(ledger, [
      { Put: { TableName: ledger.table, Item, ConditionExpression: "attribute_not_exists(pk)" } },
      {
        Update: {
          TableName: ledger.table,
          Key: { pk: FLOAT_PK },
          UpdateExpression: "ADD payments_kobo :amount, payments :one",
          ExpressionAttributeValues: { ":amount": amountKobo, ":one": 1 },
        },
      },
      audit,
    ]);
    return { kind: "recorded" } as const;
  } catch (error) {
    const payment = hasConditionFailed(error, 0) ? await readPayment(ledger, paymentId) : undefined;
    if (payment === undefined) throw error;
    return { kind: "already_recorded", payment } as const;
  }
};

/** The payment with this id; undefined if none is booked. */
export const readPayment = (ledger: Ledger, paymentId: string): Promise<FloatPayment | undefined> =>
  getItem(ledger, floatPaymentPk(paymentId), floatPaymentSchema);

/** What should be left of our payments at the upstream. */
export type Float = {
  /** Undefined until a payment is booked. */
  readonly paymentsKobo: number | undefined;
  readonly costKobo: number;
  /** The price of delivered orders whose cost is unknown. */
  readonly unknownKobo: number;
  /** Of orders that are open: their cost, or their price where that is unknown. */
  readonly openKobo: number;
  readonly expectedKobo: number;
  /** What the orders of the last 24 hours take. */
  readonly dayKobo: number;
  /** Until it is empty at that pace, rounded down to a tenth; undefined without a payment or a pace. */
  readonly hoursLeft: number | undefined;
};

/** The part of an hour that is after a moment: its orders are taken as spread over it. */
const shareSince = (hour: string, sinceMs: number): number =>
  Math.min(Math.max((Date.parse(hour) + HOUR_MS - sinceMs) / HOUR_MS, 0), 1);

/** The float now: the sums of each account, and the orders that they lack. */
export const readFloat = async (ledger: Ledger): Promise<Float> => {
  const stored = await getItem(ledger, FLOAT_PK, floatSchema);
  const dayBeganMs = ledger.clock() - DAY_MS;
  const dayBegan = isoTime(dayBeganMs);
  const total = { costKobo: 0, unknownKobo: 0, openKobo: 0, dayKobo: 0 };
  const addUp = ({ sums, orders }: AccountConsumption): void => {
    total.costKobo += sums.cost_kobo;
    total.unknownKobo += sums.unknown_kobo;
    for (const { hour, kobo } of sums.hours) total.dayKobo += Math.round(kobo * shareSince(hour, dayBeganMs));
    for (const order of orders) {
      const kobo = consumedKobo(order);
      if (order.status === "processing") total.openKobo += kobo;
      else if (order.cost_kobo === undefined) total.unknownKobo += kobo;
      else total.costKobo += kobo;
      if (order.created_at >= dayBegan) total.dayKobo += kobo;
    }
  };
  for await (const { accountIds, sums } of sumsInParts(ledger, await accountIdsOf(ledger))) {
    for await (const each of sumsAndOrders(ledger, accountIds, sums)) addUp(each);
  }
  const paymentsKobo = stored?.payments_kobo;
  const expectedKobo = (paymentsKobo ?? 0) - total.costKobo - total.unknownKobo - total.openKobo;
  const hasPace = paymentsKobo !== undefined && total.dayKobo > 0;
  const hoursLeft = hasPace ? Math.max(0, Math.floor((expectedKobo * 240) / total.dayKobo) / 10) : undefined;
  return { paymentsKobo, ...total, expectedKobo, hoursLeft };
};

const DAYS_BACK_MAX = 7;

/**
 * What the books expect to have been left at a midnight of the stage's zone: payments that were booked before, less orders
 * that were placed before and are delivered or open now. Undefined without such a payment, at another time of day, and more
 * than a week ago.
 */
export const expectedAt = async (ledger: LedgerInZone, atMs: number): Promise<number | undefined> => {
  const { timeZone } = ledger;
  const day = dateIn(atMs, timeZone);
  const days = datesUntil(dateIn(ledger.clock(), timeZone), DAYS_BACK_MAX).filter((date) => date >= day);
  if (dayStartMs(day, timeZone) !== atMs || !days.includes(day)) return undefined;
  const paymentsKobo = await paymentsBefore(ledger, isoTime(atMs));
  if (paymentsKobo === undefined) return undefined;
  const accountIds = await accountIdsOf(ledger);
  const known = await readSumsSince(ledger, accountIds, days);
  let consumed = -known.sinceKobo;
  for await (const { sums, orders } of sumsAndOrders(ledger, accountIds, known.sums)) {
    consumed += sums.cost_kobo + sums.unknown_kobo;
    for (const order of orders) consumed += order.created_at < isoTime(atMs) ? consumedKobo(order) : 0;
  }
  return paymentsKobo - consumed;
};

const paymentsBefore = async (ledger: Ledger, at: string): Promise<number | undefined> => {
  let sum: number | undefined;
  let start: IndexKey | undefined;
  do {
    const range = { from: "0000", to: at };
    const page = await queryListedItems(ledger, FLOAT_PAYMENTS_LIST, range, start, PAYMENTS_PER_READ, listedPayment);
    for (const { amount_kobo, created_at } of page.items()) if (created_at < at) sum = (sum ?? 0) + amount_kobo;
    start = page.next;
  } while (start !== undefined);
  return sum;
};

const PAYMENTS_PER_READ = 1_000;
const listedPayment = z.pick(floatPaymentSchema, { pk: true, amount_kobo: true, created_at: true });

const MEASURED_EVERY_MS = HOUR_MS;
/** If it was measured last before that, also a call that AWS does not answer raises an alarm, and a lack of time. */
const OVERDUE_MS = 3 * MEASURED_EVERY_MS;
const isOverdue = (stored: z.output<typeof floatSchema> | undefined, nowMs: number): boolean =>
  stored !== undefined && nowMs - Date.parse(stored.measured_at) > OVERDUE_MS;
/** For how many hours the float lasted when it was measured last; undefined until a payment is booked. */
export const readHoursLeft = async (ledger: Ledger): Promise<number | undefined> =>
  (await getItem(ledger, FLOAT_PK, floatSchema))?.hours_left;

/** For how long a float lasts that is not empty. */
export const hoursLeftText = (hoursLeft: number): string =>
  hoursLeft < 1 ? "less than 1 hour" : counted(Math.floor(hoursLeft), "hour");

/** What the metric says of a float that no order takes from. */
const HOURS_MAX = 10_000;

/** What was measured, or is known of the last measurement, so that its alarms do not end between two of them. */
type Measured = Pick<z.output<typeof floatSchema>, "hours_left" | "at_once_percent">;

/** Nothing of the float without a payment. */
const putMeasured = ({ hours_left: hours, at_once_percent: percent }: Measured, nowMs: number): void => {
  if (hours !== undefined) putMetrics({ FloatHoursLeft: hours }, nowMs);
  if (percent !== undefined) putMetrics({ EndedIn30sPercent: percent }, nowMs);
};

/** One late order of a quiet night says nothing. */
const ENDED_MIN = 20;

/** Undefined while too few purchases have ended. */
const readAtOncePercent = async (ledger: Ledger): Promise<number | undefined> => {
  const dayBegan = isoTime(ledger.clock() - DAY_MS);
  let [ended, atOnce] = [0, 0];
  for await (const { sums } of sumsInParts(ledger, await accountIdsOf(ledger))) {
    const hours = [...sums.values()].flatMap((each) => each.hours).filter(({ hour }) => hour >= dayBegan);
    ended += hours.reduce((total, hour) => total + hour.ended, 0);
    atOnce += hours.reduce((total, hour) => total + hour.at_once, 0);
  }
  return ended < ENDED_MIN ? undefined : atOncePercent(atOnce, ended);
};

/**
 * Adds what has ended to the sums of all accounts, but for those that an earlier run has advanced since the measurement
 * became due: of many accounts the last ones would never be reached. False if the time is up.
 */
const advanceAllSums = async (ledger: LedgerInZone, measuredAt: string, deadline: Deadline): Promise<boolean> => {
  const [dueAt, hourAgo] = [Date.parse(measuredAt) + MEASURED_EVERY_MS, ledger.clock() - MEASURED_EVERY_MS];
  const advancedTo = isoTime(Math.max(dueAt, hourAgo) - SETTLED_AGE_MS);
  for await (const accountIds of accountsBehind(ledger, await accountIdsOf(ledger), advancedTo)) {
    const advanced = mapInOrder(accountIds, BATCHES_AT_ONCE, (accountId) => advanceInTime(ledger, accountId, deadline));
    for await (const isInTime of advanced) if (!isInTime) return false;
  }
  return true;
};

const advanceInTime = async (ledger: LedgerInZone, accountId: string, deadline: Deadline): Promise<boolean> => {
  if (deadline.remainingMs() <= 0) return false;
  try {
    return await advanceSums(ledger, accountId, deadline);
  } catch (error) {
    // Another run may have been first: the next one tries again, and this one goes on with the other accounts.
    log.error("order_sums.not_advanced", { account: accountId, ...errorFields(error) });
    return true;
  }
};

/**
 * Each hour: adds what has ended to the sums of all accounts, and measures how long the float lasts and how many purchases
 * ended at once. A run that is out of time is continued by the next one. Resolves with whether it measured.
 */
export const measureFloat = async (ledger: LedgerInZone, deadline: Deadline): Promise<boolean> => {
  const nowMs = ledger.clock();
  let stored: z.output<typeof floatSchema> | undefined;
  try {
    stored = await getItem(ledger, FLOAT_PK, floatSchema);
    return await measureIfDue(ledger, stored, nowMs, deadline);
  } catch (error) {
    // What a run does besides does not depend on the float.
    if (isTransient(error) && !isOverdue(stored, nowMs)) log.warn("float.measurement_delayed", errorFields(error));
    else log.alarm("float.not_measured", errorFields(error));
    putMeasured(stored ?? {}, nowMs);
    return false;
  }
};

const measureIfDue = async (
  ledger: LedgerInZone,
  stored: z.output<typeof floatSchema> | undefined,
  nowMs: number,
  deadline: Deadline,
): Promise<boolean> => {
  const measuredAt = stored?.measured_at ?? EPOCH;
  const runDeadline = deadlineWithin(deadline, ADD_SUMS_MS_MAX, ledger.clock, RUN_RESERVE_MS);
  const isDue = nowMs - Date.parse(measuredAt) >= MEASURED_EVERY_MS;
  if (!isDue || !(await advanceAllSums(ledger, measuredAt, runDeadline))) {
    // The metric alone would go on as if it were of now.
    if (isOverdue(stored, nowMs)) log.alarm("float.not_measured", { reason: "out_of_time" });
    putMeasured(stored ?? {}, nowMs);
    return false;
  }
  const { paymentsKobo, hoursLeft } = await readFloat(ledger);
  const measured: Measured = {
    ...(paymentsKobo !== undefined && { hours_left: Math.min(hoursLeft ?? HOURS_MAX, HOURS_MAX) }),
    at_once_percent: await readAtOncePercent(ledger),
  };
  putMeasured(measured, nowMs);
  const removed = measured.at_once_percent === undefined ? ["at_once_percent"] : [];
  const parts = setParts({ measured_at: isoTime(nowMs), ...measured }, removed);
  const update = { TableName: ledger.table, Key: { pk: FLOAT_PK }, ...updateOf(parts) };
  await retryContention(() => ledger.db.update(update));
  return true;
};
