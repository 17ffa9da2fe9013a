import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { type Kobo, koboSchema } from "../contract/money.ts";
import type { AuditPut } from "../ledger/audit.ts";
import { getItem } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { accountIdsOf } from "../ledger/query-index.ts";
import { FLOAT_PK, floatPaymentPk } from "../ledger/schema.ts";
import { transactWithRetry } from "../ledger/transact.ts";
import { retryContention } from "../platform/backoff.ts";
import type { Deadline } from "../platform/deadline.ts";
import { errorFields, log, putMetrics } from "../platform/log.ts";
import { EPOCH, isoTime } from "../platform/time.ts";
import { advanceSums, consumedKobo, type LedgerInZone, ordersBeside, readSums } from "./order-sums.ts";

/** What we have paid to the upstream, and when the float was measured last. */
export const floatSchema = z.object({
  pk: z.string(),
  /** Absent until a payment is booked. */
  payments_kobo: z.int().optional(),
  measured_at: z.iso.datetime().default(EPOCH),
  hours_left: z.number().optional(),
});

/** A payment to the upstream: it is booked once by the bank's reference. */
export const floatPaymentSchema = z.object({
  pk: z.string(),
  payment_id: z.string(),
  amount_kobo: koboSchema,
  created_at: z.iso.datetime(),
});
export type FloatPayment = z.infer<typeof floatPaymentSchema>;

export type PaymentResult =
  | { readonly kind: "recorded" }
  /** The id was used; nothing was written. The amount may be another one. */
  | { readonly kind: "already_recorded"; readonly payment: FloatPayment };

/** Books a payment to the upstream, once per id, together with the operator's audit entry. */
export const recordPayment = async (
  ledger: Ledger,
  { paymentId, amountKobo }: { readonly paymentId: string; readonly amountKobo: Kobo },
  audit: AuditPut,
): Promise<PaymentResult> => {
  const Item: FloatPayment = {
    pk: floatPaymentPk(paymentId),
    payment_id: paymentId,
    amount_kobo: amountKobo,
    created_at: isoTime(ledger.clock()),
  };
  try {
    await transactWithRetry(ledger, [
      { Put: { TableName: ledger.table, Item, ConditionExpression: "attribute_not_exists(pk)" } },
      {
        Update: {
          TableName: ledger.table,
          Key: { pk: FLOAT_PK },
          UpdateExpression: "ADD payments_kobo :amount",
          ExpressionAttributeValues: { ":amount": amountKobo },
        },
      },
      audit,
    ]);
    return { kind: "recorded" };
  } catch (error) {
    const isKnown =
      error instanceof TransactionCanceledException &&
      error.CancellationReasons?.[0]?.Code === "ConditionalCheckFailed";
    const payment = isKnown ? await getItem(ledger, Item.pk, floatPaymentSchema) : undefined;
    if (payment === undefined) throw error;
    return { kind: "already_recorded", payment };
  }
};

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
  /** Until it is empty at that pace; undefined without a payment or a pace. */
  readonly hoursLeft: number | undefined;
};

const DAY_MS = 24 * 3_600_000;

/** The float now: the sums of each account, and the orders that they lack. */
export const readFloat = async (ledger: Ledger): Promise<Float> => {
  const accountIds = await accountIdsOf(ledger);
  const stored = await getItem(ledger, FLOAT_PK, floatSchema);
  const sums = await readSums(ledger, accountIds);
  const dayBegan = isoTime(ledger.clock() - DAY_MS);
  const total = { costKobo: 0, unknownKobo: 0, openKobo: 0, dayKobo: 0 };
  for (const accountId of accountIds) {
    const known = sums.get(accountId);
    total.costKobo += known?.cost_kobo ?? 0;
    total.unknownKobo += known?.unknown_kobo ?? 0;
    for (const { hour, kobo } of known?.hours ?? []) total.dayKobo += hour >= dayBegan ? kobo : 0;
    for (const order of await ordersBeside(ledger, accountId, known)) {
      const kobo = consumedKobo(order);
      if (order.status === "processing") total.openKobo += kobo;
      else if (order.cost_kobo === undefined) total.unknownKobo += kobo;
      else total.costKobo += kobo;
      if (order.created_at >= dayBegan) total.dayKobo += kobo;
    }
  }
  const paymentsKobo = stored?.payments_kobo;
  const expectedKobo = (paymentsKobo ?? 0) - total.costKobo - total.unknownKobo - total.openKobo;
  const hasPace = paymentsKobo !== undefined && total.dayKobo > 0;
  const hoursLeft = hasPace ? Math.max(0, (expectedKobo / total.dayKobo) * 24) : undefined;
  return { paymentsKobo, ...total, expectedKobo, hoursLeft };
};

const MEASURED_EVERY_MS = 3_600_000;
/** What the metric says of a float that no order takes from. */
const HOURS_MAX = 10_000;

/** Of the last measurement too, so that its alarm does not end between two of them. Nothing without a payment. */
const putHoursLeft = (hours: number | undefined, nowMs: number): void => {
  if (hours !== undefined) putMetrics({ FloatHoursLeft: hours }, nowMs);
};

/**
 * Each hour: adds what has ended to the sums of all accounts, and measures how long the float lasts. A run that is out of
 * time is continued by the next one. Resolves with whether it measured.
 */
export const measureFloat = async (ledger: LedgerInZone, deadline: Deadline): Promise<boolean> => {
  const stored = await getItem(ledger, FLOAT_PK, floatSchema);
  const nowMs = ledger.clock();
  if (nowMs - Date.parse(stored?.measured_at ?? EPOCH) < MEASURED_EVERY_MS) {
    putHoursLeft(stored?.hours_left, nowMs);
    return false;
  }
  for (const accountId of await accountIdsOf(ledger)) {
    if (deadline.remainingMs() <= 0) return false;
    try {
      if (!(await advanceSums(ledger, accountId, deadline))) return false;
    } catch (error) {
      // Another run may have been first: the next one tries again, and this one goes on with the other accounts.
      log.error("order_sums.not_advanced", { account: accountId, ...errorFields(error) });
    }
  }
  const { paymentsKobo, hoursLeft } = await readFloat(ledger);
  const metric = paymentsKobo === undefined ? undefined : Math.round(Math.min(hoursLeft ?? HOURS_MAX, HOURS_MAX));
  putHoursLeft(metric, nowMs);
  const update = new UpdateCommand({
    TableName: ledger.table,
    Key: { pk: FLOAT_PK },
    UpdateExpression: `SET measured_at = :now${metric === undefined ? "" : ", hours_left = :hours"}`,
    ExpressionAttributeValues: { ":now": isoTime(nowMs), ...(metric !== undefined && { ":hours": metric }) },
  });
  await retryContention(() => ledger.db.send(update));
  return true;
};
