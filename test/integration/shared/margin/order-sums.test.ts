import { randomUUID } from "node:crypto";
import type { BatchGetCommandInput } from "@aws-sdk/lib-dynamodb";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { floatRuns } from "../../../../shared/actions/float.ts";
import { marginRuns } from "../../../../shared/actions/margin.ts";
import { refundClockRuns } from "../../../../shared/actions/refund-clock.ts";
import { endCounts } from "../../../../shared/contract/actions/refund-clock.ts";
import type { ErrorCode } from "../../../../shared/contract/errors.ts";
import { marginReport } from "../../../../shared/contract/reports/margin-report.ts";
import { clockReport } from "../../../../shared/contract/reports/refund-clock-report.ts";
import { HOUR_MS } from "../../../../shared/contract/values/durations.ts";
import { koboSchema } from "../../../../shared/contract/values/money.ts";
import { readAudit, SERVICE } from "../../../../shared/ledger/audit.ts";
import type { Ledger } from "../../../../shared/ledger/ledger.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import { FLOAT_PAYMENTS_LIST, orderDayPk } from "../../../../shared/ledger/schema.ts";
import { settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { measureFloat, readFloat, readHoursLeft } from "../../../../shared/margin/float.ts";
import { advanceSums, readSums, readSumsSince } from "../../../../shared/margin/order-sums.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { RUN_RESERVE_MS } from "../../../../shared/platform/time-budgets.ts";
import { enqueueOrder } from "../../../../shared/queued-orders/queue-store.ts";
import { profileOf } from "../../../../shared/upstream/profile.ts";
import { askForBalance } from "../../../../shared/upstream-lookup/upstream-balance.ts";
import { changeStatement, newStatement } from "../../../../shared/upstream-statement/statement.ts";
import { beforeEachCall } from "../../../builders/dynamodb/before-each-call.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { anActionContext } from "../../../builders/ledger/action-context.ts";
import { openOperatorLedger } from "../../../builders/ledger/operator-ledger.ts";
import { aTransaction, newTransactionPk } from "../../../builders/ledger/transaction.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

/** Goal: sums of costs are those of the ledger, whatever runs are repeated, overlap, or stop at any time. */
const operator = await openOperatorLedger();
const contextAt = (nowMs: number, of = operator) => anActionContext(of.tables, { clock: () => nowMs });
const forever = deadlineIn(600_000);
const inLagos = (ledger: Ledger) => ({ ...ledger, timeZone: "Africa/Lagos" });

type Order = {
  readonly atMs: number;
  readonly priceKobo: number;
  readonly costKobo?: number | undefined;
  readonly network?: string;
};

const place = async (ledger: Ledger, accountId: string, { atMs, priceKobo, costKobo, network = "MTN" }: Order) => {
  const transaction: Transaction = aTransaction({
    pk: newTransactionPk(),
    list_key: `${accountId}#live`,
    account_id: accountId,
    write_token: randomUUID(),
    network,
    amount_kobo: koboSchema.parse(priceKobo),
    ...(costKobo !== undefined && { cost_kobo: koboSchema.parse(costKobo) }),
    created_at: isoTime(atMs),
    updated_at: isoTime(atMs),
  });
  expect(await openTransaction(ledger, transaction, [], forever)).toEqual({ kind: "opened" });
  return transaction;
};
const end = (
  ledger: Ledger,
  order: Transaction,
  status: "success" | "failed",
  { reported_by, code = "delivery_failed" }: Pick<Transaction, "reported_by"> & { readonly code?: ErrorCode } = {},
) =>
  settleTransaction(
    ledger,
    order,
    { ...(status === "success" ? { status } : { status, failure: { code } }), reported_by },
    deadlineIn(29_000),
  );

const report = async (account: string, nowMs: number, by = "day") => {
  const page = await marginRuns["margin report"](contextAt(nowMs), {
    from: "2026-11-19",
    to: "2026-11-23",
    by: `${by},account`,
  });
  return marginReport([page]).rows.filter(({ account_id }) => account_id === account);
};

const clockDays = { from: "2026-11-19", to: "2026-12-10", by: "kind,network,cause" };
const refundClock = async (nowMs: number, days = clockDays, of = operator) =>
  clockReport([await refundClockRuns["refund-clock report"](contextAt(nowMs, of), days)]);
const noEnds = endCounts.parse({});
const NO_RECORD = { code: "record_not_found" } as const;

test("the report is complete until an account was created that no run has added up yet", async () => {
  await operator.anAccount();
  const range = { from: "2026-11-19", to: "2026-11-23", by: "day" };
  expect((await marginRuns["margin report"](contextAt(NOON_MS), range)).complete_until).not.toBeNull();
});

test("the sums are those of the ledger after any history, with runs that overlap and are repeated", async () => {
  const act = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant("place" as const),
        price: fc.integer({ min: 1, max: 50_00 }),
        cost: fc.option(fc.integer({ min: 1, max: 50_00 }), { nil: undefined }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("end" as const),
        index: fc.nat(20),
        isDelivered: fc.boolean(),
        reported_by: fc.constantFrom(undefined, "event" as const, "lookup" as const),
        code: fc.constantFrom("delivery_failed" as const, "provider_timeout" as const),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("wait" as const),
        ms: fc.constantFrom(1, 29_999, 60_000, HOUR_MS, 13 * HOUR_MS),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("run" as const), times: fc.integer({ min: 1, max: 3 }) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 6, maxLength: 24 }), async (acts) => {
      const { accountId } = await operator.anAccount();
      let nowMs = NOON_MS;
      const ledger = { ...operator.ledgerAt(), clock: () => nowMs };
      const orders: { readonly transaction: Transaction; status: "processing" | "success" | "failed" }[] = [];
      const ends: Record<string, Record<string, number>> = {};
      const ended: { readonly hour: string; readonly atOnce: boolean }[] = [];
      for (const each of acts) {
        if (each.kind === "wait") nowMs += each.ms;
        if (each.kind === "run") {
          await Promise.allSettled(
            Array.from({ length: each.times }, () => advanceSums(inLagos(ledger), accountId, forever)),
          );
        }
        if (each.kind === "place") {
          nowMs += 1;
          const transaction = await place(ledger, accountId, {
            atMs: nowMs,
            priceKobo: each.price,
            costKobo: each.cost,
            network: accountId,
          });
          orders.push({ transaction, status: "processing" });
        }
        const order = each.kind === "end" ? orders[each.index % Math.max(1, orders.length)] : undefined;
        if (each.kind === "end" && order?.status === "processing") {
          order.status = each.isDelivered ? "success" : "failed";
          await end(ledger, order.transaction, order.status, each);
          const afterMs = nowMs - Date.parse(order.transaction.created_at);
          const within = afterMs <= 30_000 ? "30_s" : afterMs <= 24 * HOUR_MS ? "24_h" : "later";
          const name = `${each.isDelivered ? "delivered" : "refunded"}_${within}`;
          const cause = each.reported_by ?? (each.isDelivered ? "answer" : each.code);
          ends[cause] = { ...ends[cause], [name]: (ends[cause]?.[name] ?? 0) + 1 };
          ended.push({ hour: order.transaction.created_at.slice(0, 13), atOnce: within === "30_s" });
        }
      }
      nowMs += 2 * HOUR_MS;
      await Promise.allSettled([1, 2, 3].map(() => advanceSums(inLagos(ledger), accountId, forever)));
      await advanceSums(inLagos(ledger), accountId, forever);
      const delivered = orders.filter(({ status }) => status === "success").map(({ transaction }) => transaction);
      const sum = (of: readonly Transaction[], what: "amount_kobo" | "cost_kobo") =>
        of.reduce((total, each) => total + (each[what] ?? 0), 0) / 100;
      const known = delivered.filter(({ cost_kobo }) => cost_kobo !== undefined);
      const unknown = delivered.filter(({ cost_kobo }) => cost_kobo === undefined);
      const rows = await report(accountId, nowMs);
      const totalOf = (field: "orders" | "price" | "cost" | "unknown_orders" | "unknown_price") =>
        Math.round(rows.reduce((total, row) => total + row[field], 0) * 100) / 100;
      expect([totalOf("orders"), totalOf("price"), totalOf("cost")]).toEqual([
        known.length,
        sum(known, "amount_kobo"),
        sum(known, "cost_kobo"),
      ]);
      expect([totalOf("unknown_orders"), totalOf("unknown_price")]).toEqual([
        unknown.length,
        sum(unknown, "amount_kobo"),
      ]);
      const dayBegan = isoTime(nowMs - 24 * HOUR_MS);
      const hours = (await readSums(ledger, [accountId])).get(accountId)?.hours.filter(({ hour }) => hour >= dayBegan);
      const recount = ended.filter(({ hour }) => `${hour}:00:00.000Z` >= dayBegan);
      const total = (field: "ended" | "at_once") => (hours ?? []).reduce((all, each) => all + each[field], 0);
      expect([total("ended"), total("at_once")]).toEqual([
        recount.length,
        recount.filter(({ atOnce }) => atOnce).length,
      ]);
      const clock = (await refundClock(nowMs)).rows.filter(({ network }) => network === accountId);
      expect(
        Object.fromEntries(
          clock.map(({ cause, kind, network, orders, within_30_s_percent, ...each }) => [cause, each]),
        ),
      ).toEqual(Object.fromEntries(Object.entries(ends).map(([cause, each]) => [cause, { ...noEnds, ...each }])));
    }),
    { numRuns: 15 },
  );
});

test("the refund clock counts what an operator resolved, and what is open for more than a day, but no order that was never debited, and no sum of a later release", async () => {
  const own = await openOperatorLedger();
  const { accountId } = await own.anAccount();
  const ledger = own.ledgerAt(NOON_MS);
  const at = (hours: number): string => isoTime(NOON_MS - hours * HOUR_MS);
  const old = { list_key: `${accountId}#live`, account_id: accountId, type: "airtime", created_at: at(40) } as const;
  for (const end of [
    { resolved_by: "operator", updated_at: at(15) },
    { debit: "void", updated_at: at(40) },
    { type: "bvn_verification", network: undefined, updated_at: isoTime(Date.parse(at(40)) + 30_000) },
    { type: "bvn_verification", network: undefined, updated_at: at(16) },
  ] as const) {
    const Item = aTransaction({ ...old, pk: newTransactionPk(), status: "failed", failure: NO_RECORD, ...end });
    await ledger.db.put({ TableName: ledger.table, Item });
  }
  // Of those of 25 hours ago one was sent, one waits and one is set aside.
  const toSend = { kind: "airtime", network: "mtn" } as const;
  for (const hours of [23, 25]) {
    const placed = () => place(ledger, accountId, { atMs: NOON_MS - hours * HOUR_MS, priceKobo: 100_00 });
    await placed();
    for (const refusals of [undefined, 1]) {
      await enqueueOrder(ledger, { ...(await placed()), refusals }, toSend, deadlineIn(29_000));
    }
  }
  await advanceSums(inLagos(ledger), accountId, forever);
  await changeItem(ledger, orderDayPk(accountId, "2026-11-19"), { "airtime|MTN|later": 1 });
  const reportBy = (by: string) => refundClock(NOON_MS, { ...clockDays, by }, own);
  const { rows, total, open_over_24_h } = await reportBy(clockDays.by);
  expect(open_over_24_h).toBe(3);
  const row = { kind: "airtime", network: "MTN", cause: "operator" };
  const counts = { orders: 1, within_30_s_percent: 0, ...noEnds, resolved_later: 1 };
  const none = { kind: null, network: null, cause: null };
  // They ended after exactly 30 s and 24 hours.
  const refunds = { refunded_30_s: 1, refunded_24_h: 1 };
  const checks = { orders: 2, within_30_s_percent: 50, ...noEnds, ...refunds };
  expect(rows).toEqual([
    { ...row, ...counts },
    { ...none, kind: "bvn_verification", cause: NO_RECORD.code, ...checks },
  ]);
  expect(total).toEqual({ ...none, ...counts, orders: 3, within_30_s_percent: 33.33, ...refunds });
  expect((await reportBy("cause,cause")).rows).toContainEqual({ ...none, cause: "operator", ...counts });
  const before = await refundClock(NOON_MS, { ...clockDays, from: "2026-11-01", to: "2026-11-02" }, own);
  expect([before.rows, before.total]).toEqual([[], { ...none, orders: 0, within_30_s_percent: null, ...noEnds }]);
});

test("the share of purchases that ended within 30 s is of 24 hours and without checks, published from 20 on, each minute, until they are fewer", async () => {
  const own = await openOperatorLedger();
  const { accountId } = await own.anAccount();
  const { db, table } = own.ledgerAt();
  const put = async (count: number, hoursAgo: number, afterMs: number, type: Transaction["type"] = "airtime") => {
    const items = Array.from({ length: count }, (_, number) => {
      const createdMs = NOON_MS - hoursAgo * HOUR_MS + number;
      return aTransaction({
        ...{ pk: newTransactionPk(), list_key: `${accountId}#live`, account_id: accountId, type },
        ...{ status: number % 2 === 0 ? "success" : "failed", created_at: isoTime(createdMs) },
        updated_at: isoTime(createdMs + afterMs),
      });
    });
    await putItems(db, table, items);
  };
  const log = captureLog();
  const measured = async (nowMs: number, isDue = true) => {
    const before = log.lines().length;
    expect(await measureFloat(inLagos(own.ledgerAt(nowMs)), forever)).toBe(isDue);
    return log
      .lines()
      .slice(before)
      .flatMap(({ EndedIn30sPercent: percent }) => (percent === undefined ? [] : [percent]));
  };
  await put(16, 3, 30_000);
  await put(3, 2, 30_001);
  await put(30, 26, 90_000);
  await put(30, 2, 1_000, "nin_verification");
  expect(await measured(NOON_MS)).toEqual([]);
  // No payment is booked.
  expect(log.lines()).toEqual([]);
  await put(1, 0.5, 40_000);
  expect(await measured(NOON_MS + HOUR_MS)).toEqual([80]);
  expect(await measured(NOON_MS + HOUR_MS + 60_000, false)).toEqual([80]);
  expect(await measured(NOON_MS + 22 * HOUR_MS)).toEqual([]);
  expect(await measured(NOON_MS + 22 * HOUR_MS + 60_000, false)).toEqual([]);
  expect(await readHoursLeft(own.ledgerAt())).toBeUndefined();
});

test("an order of a later release's form raises an alarm, and the last measurement is reported", async () => {
  const own = await openOperatorLedger();
  const { accountId } = await own.anAccount();
  await floatRuns["float fund"](contextAt(NOON_MS, own), { amount_kobo: 100_000, id: "p1", why: "payment" });
  const ledger = own.ledgerAt(NOON_MS);
  expect(await measureFloat(inLagos(ledger), forever)).toBe(true);
  const order = await place(ledger, accountId, { atMs: NOON_MS, priceKobo: 20_00 });
  await changeItem(ledger, order.pk, { type: "later" });
  const log = captureLog();
  expect(await measureFloat(inLagos(own.ledgerAt(NOON_MS + HOUR_MS)), forever)).toBe(false);
  expect(log.lines("float.not_measured")).toMatchObject([{ error: "$ZodError", Alarms: 1 }]);
  expect(log.lines().flatMap(({ FloatHoursLeft }) => FloatHoursLeft ?? [])).toEqual([10_000]);
});

test("a float that lasts for less than an hour below the alarm's bound is low by the metric too, also if an account is not added up", async () => {
  const own = await openOperatorLedger();
  const { accountId } = await own.anAccount();
  const context = { ...contextAt(NOON_MS, own), floatAlarmHours: 12 };
  await floatRuns["float fund"](context, { amount_kobo: 149_00, id: "p1", why: "payment" });
  const ledger = own.ledgerAt(NOON_MS);
  const pace = "no order took anything in the last 24 hours";
  expect(await floatRuns["float show"](context, {})).toMatchObject({ hours_left: null, is_low: false, pace });
  await place(ledger, accountId, { atMs: NOON_MS - 1_000, priceKobo: 110_00, costKobo: 100_00 });
  expect(await floatRuns["float show"](context, {})).toMatchObject({ hours_left: 11.7, is_low: true });
  const log = captureLog();
  vi.spyOn(own.tables.db, "transactWrite").mockRejectedValueOnce(new Error("Another run was first"));
  await measureFloat(inLagos(ledger), forever);
  expect(log.lines("order_sums.not_advanced")).toMatchObject([{ account: accountId }]);
  expect(log.lines().flatMap(({ FloatHoursLeft }) => FloatHoursLeft ?? [])).toEqual([11.7]);
  await place(ledger, accountId, { atMs: NOON_MS - 1_000, priceKobo: 110_00, costKobo: 100_00 });
  expect(await floatRuns["float show"](context, {})).toMatchObject({ hours_left: 0, is_low: true, pace: "empty" });
  await floatRuns["float fund"](context, { amount_kobo: 57_00, id: "p2", why: "payment" });
  const soon = "empty in less than 1 hour at the pace of the last 24 hours";
  expect(await floatRuns["float show"](context, {})).toMatchObject({ hours_left: 0.7, is_low: true, pace: soon });
  await floatRuns["float fund"](context, { amount_kobo: 2_50, id: "p3", why: "payment" });
  const anHour = "empty in 1 hour at the pace of the last 24 hours";
  expect(await floatRuns["float show"](context, {})).toMatchObject({ hours_left: 1, pace: anHour });
});

test.each([
  ["AWS does not let a run measure", forever, "float.measurement_delayed"],
  ["no run has time to measure", deadlineIn(RUN_RESERVE_MS), undefined],
])("a float that %s raises an alarm after three hours", async (_what, deadline, delayed) => {
  const own = await openOperatorLedger();
  await own.anAccount();
  expect(await measureFloat(inLagos(own.ledgerAt(NOON_MS)), forever)).toBe(true);
  const throttled = Object.assign(new Error("busy"), { name: "ThrottlingException", $retryable: {} });
  if (delayed !== undefined) vi.spyOn(own.tables.db, "query").mockRejectedValue(throttled);
  const log = captureLog();
  const measure = (nowMs: number) => measureFloat(inLagos(own.ledgerAt(nowMs)), deadline);
  expect(await measure(NOON_MS + 3 * HOUR_MS)).toBe(false);
  expect(log.lines("float.not_measured")).toEqual([]);
  if (delayed !== undefined) expect(log.lines(delayed)).toHaveLength(1);
  expect(await measure(NOON_MS + 3 * HOUR_MS + 60_000)).toBe(false);
  const alarm = { ...(delayed === undefined && { reason: "out_of_time" }), Alarms: 1 };
  expect(log.lines("float.not_measured")).toMatchObject([alarm]);
});

test("a run adds up sums for half a minute, and the next ones go on with the accounts that it did not reach", async () => {
  const own = await openOperatorLedger();
  let nowMs = NOON_MS;
  // Each look at the clock takes a second: also what is under way when the time is up takes a few.
  const ledger = { ...inLagos(own.ledgerAt()), clock: () => (nowMs += 1_000) };
  const order = { status: "success", cost_kobo: koboSchema.parse(97_00) } as const;
  const at = isoTime(NOON_MS - 2 * HOUR_MS);
  const accountIds = await Promise.all(Array.from({ length: 12 }, async () => (await own.anAccount()).accountId));
  const items = accountIds.map((account_id) =>
    aTransaction({
      ...{ pk: newTransactionPk(), list_key: `${account_id}#live`, account_id, created_at: at, updated_at: at },
      ...order,
    }),
  );
  await putItems(own.tables.db, own.tables.ledgerTable, items);
  const tookMs: number[] = [];
  let isMeasured = false;
  for (let run = 0; run < 10 && !isMeasured; run += 1) {
    const beganMs = nowMs;
    isMeasured = await measureFloat(ledger, deadlineIn(300_000, ledger.clock));
    tookMs.push(nowMs - beganMs);
  }
  expect(isMeasured).toBe(true);
  expect(tookMs.length).toBeGreaterThan(1);
  expect(Math.max(...tookMs)).toBeLessThan(60_000);
  const sums = await readSums(ledger, accountIds);
  expect(accountIds.map((accountId) => sums.get(accountId)?.cost_kobo)).toEqual(accountIds.map(() => 97_00));
});

/** Delivered orders of 97 NGN. */
const delivered = (accountId: string, count: number, each: (index: number) => Partial<Transaction>) =>
  Array.from({ length: count }, (_, index) => {
    const changes = each(index);
    return aTransaction({
      ...{ pk: newTransactionPk(), list_key: `${accountId}#live`, account_id: accountId, status: "success" },
      ...{ cost_kobo: koboSchema.parse(97_00), updated_at: changes.created_at, ...changes },
    });
  });
const hoursAgo = (hours: number, afterMs = 0): string => isoTime(NOON_MS - hours * HOUR_MS + afterMs);

test.each<[string, number, (index: number) => Partial<Transaction>]>([
  [
    "a day with more sums than one update can take",
    120,
    (index) => ({ created_at: hoursAgo(2, index), network: `network-${index}` }),
  ],
  ["more days than one transaction can change", 101, (index) => ({ created_at: hoursAgo(2 + 24 * (100 - index)) })],
  // The last two have one time.
  ["a moment that one read ends in", 1_001, (index) => ({ created_at: hoursAgo(2, Math.min(index, 999)) })],
])("%s is added in several steps, and a run without time for the next one is continued", async (_what, count, each) => {
  const { accountId } = await operator.anAccount();
  const ledger = operator.ledgerAt(NOON_MS);
  await putItems(ledger.db, ledger.table, delivered(accountId, count, each));
  expect(await advanceSums(inLagos(ledger), accountId, { remainingMs: () => 0 })).toBe(false);
  expect(await advanceSums(inLagos(ledger), accountId, forever)).toBe(true);
  expect((await readSums(ledger, [accountId])).get(accountId)).toMatchObject({ cost_kobo: count * 97_00 });
});

test("orders of one time that one read does not end are an error, and not left out", async () => {
  const { accountId } = await operator.anAccount();
  const ledger = operator.ledgerAt(NOON_MS);
  await putItems(
    ledger.db,
    ledger.table,
    delivered(accountId, 3, () => ({ created_at: hoursAgo(2) })),
  );
  beforeEachCall(ledger.db, "query", (input) => {
    input.Limit = 2;
  });
  await expect(advanceSums(inLagos(ledger), accountId, forever)).rejects.toThrow("2 orders have the same time");
});

test("an account with more open orders than its sums keep is added up to them, and further once some have ended", async () => {
  const { accountId } = await operator.anAccount();
  const ledger = operator.ledgerAt(NOON_MS);
  const orders = delivered(accountId, 43, (index) => ({ created_at: hoursAgo(2, index) }));
  const isOpen = (index: number) => index < 41;
  const open = orders.map((order, index) => (isOpen(index) ? { ...order, status: "processing" as const } : order));
  await putItems(ledger.db, ledger.table, open);
  const advanced = async () => {
    await advanceSums(inLagos(ledger), accountId, forever);
    const sums = (await readSums(ledger, [accountId])).get(accountId);
    return [sums?.open_keys.length, sums?.cost_kobo];
  };
  expect(await advanced()).toEqual([40, 0]);
  expect(await advanced()).toEqual([40, 0]);
  await putItems(ledger.db, ledger.table, orders.slice(0, 2));
  expect(await advanced()).toEqual([39, 4 * 97_00]);
});

test("an order is in the float once, also one of the moment that the sums end with, however many are newer", async () => {
  const own = await openOperatorLedger();
  const { accountId } = await own.anAccount();
  const ledger = own.ledgerAt(NOON_MS);
  const times = [hoursAgo(30), hoursAgo(1), ...[1, 2, 3].map((ms) => hoursAgo(1, ms))];
  const orders = delivered(accountId, times.length, (index) => ({ created_at: times[index] ?? "" }));
  await putItems(ledger.db, ledger.table, orders);
  await advanceSums(inLagos(ledger), accountId, forever);
  expect((await readSums(ledger, [accountId])).get(accountId)).toMatchObject({
    cost_kobo: 2 * 97_00,
    // Others are no part of a day that a float is measured by.
    hours: [{ hour: hoursAgo(1) }],
  });
  beforeEachCall(ledger.db, "query", (input) => {
    input.Limit = 1;
  });
  expect(await readFloat(ledger)).toMatchObject({ costKobo: times.length * 97_00 });
});

test("sums and days are of one moment, also if a run adds to them between the reads", async () => {
  const { accountId } = await operator.anAccount();
  const ledger = operator.ledgerAt(NOON_MS);
  await putItems(
    ledger.db,
    ledger.table,
    delivered(accountId, 2, (index) => ({ created_at: hoursAgo(3 - index) })),
  );
  await advanceSums(inLagos(operator.ledgerAt(NOON_MS - 1.5 * HOUR_MS)), accountId, forever);
  const { db } = ledger;
  const batchGet = db.batchGet.bind(db);
  let isAdvanced = false;
  vi.spyOn(db, "batchGet").mockImplementation(async (input: BatchGetCommandInput) => {
    const answer = await batchGet(input);
    if (!isAdvanced && JSON.stringify(input).includes(orderDayPk(accountId, "2026-11-21"))) {
      isAdvanced = true;
      await advanceSums(inLagos(ledger), accountId, forever);
    }
    return answer;
  });
  const { sums, sinceKobo } = await readSumsSince(ledger, [accountId], ["2026-11-21"]);
  expect(isAdvanced).toBe(true);
  expect([sums.get(accountId)?.cost_kobo, sinceKobo]).toEqual([2 * 97_00, 2 * 97_00]);
});

test("an order counts on its day in the zone of the stage, by network and kind, and one that ends days later too", async () => {
  const { accountId } = await operator.anAccount();
  const timeZone = "Asia/Bangkok";
  const midnightMs = Date.parse("2026-11-20T17:00:00.000Z");
  const ledger = operator.ledgerAt(midnightMs + 2 * HOUR_MS);
  const [before, after, late] = [
    await place(ledger, accountId, { atMs: midnightMs - 1, priceKobo: 100_00, costKobo: 97_00 }),
    await place(ledger, accountId, { atMs: midnightMs, priceKobo: 200_00, costKobo: 190_00, network: "Glo" }),
    await place(ledger, accountId, { atMs: midnightMs - 2, priceKobo: 50_00, costKobo: 49_00 }),
  ];
  for (const order of [before, after]) await end(ledger, order, "success");
  await advanceSums({ ...ledger, timeZone }, accountId, forever);
  const days = async () =>
    (await report(accountId, midnightMs)).map(({ day, orders, margin, margin_percent }) => [
      day,
      orders,
      margin,
      margin_percent,
    ]);
  expect(await days()).toEqual([
    ["2026-11-20", 1, 3, 3],
    ["2026-11-21", 1, 10, 5],
  ]);
  await end(ledger, late, "success");
  await advanceSums({ ...operator.ledgerAt(midnightMs + 9 * HOUR_MS), timeZone }, accountId, forever);
  expect(await days()).toEqual([
    ["2026-11-20", 2, 4, 2.67],
    ["2026-11-21", 1, 10, 5],
  ]);
  expect(
    (await report(accountId, midnightMs, "network,kind")).map(({ network, kind, cost }) => [network, kind, cost]),
  ).toEqual([
    ["Glo", "data", 190],
    ["MTN", "data", 146],
  ]);
});

test("the float is payments less what was delivered and is open, and lasts by the pace of the last 24 hours", async () => {
  const own = await openOperatorLedger();
  const { accountId } = await own.anAccount();
  const fund = (amount_kobo: number, id: string) =>
    floatRuns["float fund"](contextAt(NOON_MS, own), { amount_kobo, id, why: "weekly" });
  const ledger = own.ledgerAt(NOON_MS);
  const known = await place(ledger, accountId, { atMs: NOON_MS - 5 * HOUR_MS, priceKobo: 55_00, costKobo: 50_00 });
  expect(await floatRuns["float show"](contextAt(NOON_MS, own), {})).toMatchObject({
    payments: null,
    expected_balance: null,
    is_low: false,
    pace: "no payment to the upstream is booked",
  });
  expect(await fund(1_000_00, "GTB-1")).toEqual({ id: "GTB-1", amount: 1_000, repeated: false });
  expect(await fund(1_000_00, "gtb-1")).toMatchObject({ repeated: true });
  await expect(fund(2_000_00, "GTB-1")).rejects.toThrow(/booked already, with NGN 1,000.00/);
  expect((await readAudit(ledger, SERVICE)).map(({ action }) => action)).toEqual(["float fund"]);
  vi.spyOn(own.tables.db, "transactWrite").mockRejectedValueOnce(new Error("No answer"));
  await expect(fund(1_000_00, "GTB-0")).rejects.toThrow("No answer");
  // A zero too many is corrected by an entry of its own, once.
  await fund(20_000_00, "GTB-2");
  expect(await fund(-18_000_00, "GTB-2-less")).toEqual({ id: "GTB-2-less", amount: -18_000, repeated: false });
  expect(await fund(-18_000_00, "GTB-2-less")).toMatchObject({ repeated: true });
  await fund(-2_000_00, "GTB-2-back");
  expect(await floatRuns["float show"](contextAt(NOON_MS, own), {})).toMatchObject({ payments: 1_000 });

  const old = await place(ledger, accountId, { atMs: NOON_MS - 30 * HOUR_MS, priceKobo: 110_00, costKobo: 100_00 });
  const unknown = await place(ledger, accountId, { atMs: NOON_MS - 4 * HOUR_MS, priceKobo: 30_00 });
  const failed = await place(ledger, accountId, { atMs: NOON_MS - 3 * HOUR_MS, priceKobo: 40_00, costKobo: 39_00 });
  await place(ledger, accountId, { atMs: NOON_MS - 2 * HOUR_MS, priceKobo: 25_00, costKobo: 20_00 });
  const recent = await place(ledger, accountId, { atMs: NOON_MS - 1_000, priceKobo: 70_00, costKobo: 60_00 });
  for (const order of [old, known, unknown, recent]) await end(ledger, order, "success");
  await end(ledger, failed, "failed");
  const expected = { costKobo: 210_00, unknownKobo: 30_00, openKobo: 20_00, expectedKobo: 740_00, dayKobo: 160_00 };
  expect(await readFloat(ledger)).toMatchObject(expected);
  const log = captureLog();
  expect(await measureFloat(inLagos(ledger), forever)).toBe(true);
  expect(await readFloat(ledger)).toMatchObject({ ...expected, hoursLeft: 111 });
  // Of two runs at once one may have an earlier time.
  for (const hours of [19.5, 0, 19.5]) {
    await advanceSums(inLagos(own.ledgerAt(NOON_MS + hours * HOUR_MS)), accountId, forever);
  }
  // 24 hours ago half of the hour was over in which an order took 50 NGN.
  expect(await readFloat(own.ledgerAt(NOON_MS + 19.5 * HOUR_MS))).toMatchObject({ ...expected, dayKobo: 135_00 });
  expect(await measureFloat(inLagos(own.ledgerAt(NOON_MS + HOUR_MS - 1)), forever)).toBe(false);
  expect(log.lines().map(({ FloatHoursLeft }) => FloatHoursLeft)).toEqual([111, 111]);
  const context = contextAt(NOON_MS, own);
  const readBalance = async () => ({ kind: "read", balanceKobo: koboSchema.parse(700_00) }) as const;
  const reader = { waitS: () => 0, readBalance };
  await askForBalance({ cache: context.purchases, reader, clock: ledger.clock }, forever);
  const probe = { ...context.probe, profile: profileOf({ balance: { path: "/wallet" } }) };
  for (const [floatAlarmHours, is_low] of [
    [111, false],
    [112, true],
  ] as const) {
    expect(await floatRuns["float show"]({ ...context, floatAlarmHours }, {})).toMatchObject({ is_low });
  }
  expect(await floatRuns["float show"]({ ...context, probe }, {})).toMatchObject({
    payments: 1_000,
    expected_balance: 740,
    upstream_balance: 700,
    upstream_balance_at: isoTime(NOON_MS),
    unknown_cost_at_price: 30,
    pace: "empty in 111 hours at the pace of the last 24 hours",
  });
});

test("the balance at the end of a statement is shown with its difference from what the books expect for that midnight", async () => {
  const own = await openOperatorLedger();
  const { accountId } = await own.anAccount();
  const midnightMs = Date.parse("2026-11-20T23:00:00.000Z");
  const nowMs = midnightMs + 10 * HOUR_MS;
  const ledger = own.ledgerAt(nowMs);
  const statement = (day: string, to: string, balanceKobo?: number) =>
    changeStatement(
      ledger,
      day,
      async (read) => ({
        statement: {
          ...read,
          closing: balanceKobo === undefined ? null : { balance_kobo: balanceKobo, at: isoTime(Date.parse(to) - 1) },
        },
        writes: [],
      }),
      newStatement(day, { from: isoTime(Date.parse(to) - 24 * HOUR_MS), to }, isoTime(nowMs)),
    );
  const shown = async (atMs = nowMs) => {
    const { statement_day, statement_balance, statement_expected, statement_difference } = await floatRuns[
      "float show"
    ](contextAt(atMs, own), {});
    return [statement_day, statement_balance, statement_expected, statement_difference];
  };
  await statement("2026-11-21", isoTime(midnightMs + 24 * HOUR_MS));
  expect(await shown()).toEqual([null, null, null, null]);
  await statement("2026-11-19", isoTime(midnightMs - 24 * HOUR_MS), 1_00);
  await statement("2026-11-20", isoTime(midnightMs), 875_00);
  expect(await shown()).toEqual(["2026-11-20", 875, null, null]);

  for (const [atMs, amount_kobo] of [
    [midnightMs - 2, 400_00],
    [midnightMs - 1, 600_00],
    [midnightMs, 500_00],
  ] as const) {
    const payment = { amount_kobo, id: `GTB-${atMs}`, why: "weekly" };
    await floatRuns["float fund"](contextAt(atMs, own), payment);
  }
  const orders = [
    await place(ledger, accountId, { atMs: midnightMs - 30 * HOUR_MS, priceKobo: 55_00, costKobo: 50_00 }),
    await place(ledger, accountId, { atMs: midnightMs - 1, priceKobo: 50_00 }),
    await place(ledger, accountId, { atMs: midnightMs, priceKobo: 40_00, costKobo: 30_00 }),
    await place(ledger, accountId, { atMs: midnightMs + HOUR_MS, priceKobo: 35_00 }),
    await place(ledger, accountId, { atMs: nowMs - 1_000, priceKobo: 70_00, costKobo: 60_00 }),
  ];
  for (const order of orders) await end(ledger, order, "success");
  await place(ledger, accountId, { atMs: midnightMs - 2, priceKobo: 25_00, costKobo: 20_00 });
  const failed = await place(ledger, accountId, { atMs: midnightMs - 3, priceKobo: 90_00, costKobo: 80_00 });
  await end(ledger, failed, "failed");
  const inPages = beforeEachCall(own.tables.db, "query", (input) => {
    if (input.ExpressionAttributeValues?.[":partition"] === FLOAT_PAYMENTS_LIST) input.Limit = 1;
  });
  expect(await shown()).toEqual(["2026-11-20", 875, 880, -5]);
  inPages.mockRestore();
  // A run adds orders to sums and days after the days were read.
  const { db } = own.tables;
  const send = db.send.bind(db);
  let isAdvanced = false;
  const spy = vi.spyOn(db, "send").mockImplementation(async (command) => {
    const answer: unknown = await send(command);
    if (!isAdvanced && JSON.stringify(command.input).includes(orderDayPk(accountId, ""))) {
      isAdvanced = true;
      await advanceSums(inLagos(ledger), accountId, forever);
    }
    return answer;
  });
  expect(await shown()).toEqual(["2026-11-20", 875, 880, -5]);
  expect(isAdvanced).toBe(true);
  spy.mockRestore();
  expect(await shown()).toEqual(["2026-11-20", 875, 880, -5]);

  expect(await shown(midnightMs + 7 * 24 * HOUR_MS - 1)).toEqual(["2026-11-20", 875, 880, -5]);
  expect(await shown(midnightMs + 7 * 24 * HOUR_MS)).toEqual(["2026-11-20", 875, null, null]);
  await statement("2026-11-22", isoTime(midnightMs + HOUR_MS), 800_00);
  expect(await shown()).toEqual(["2026-11-22", 800, null, null]);
});
