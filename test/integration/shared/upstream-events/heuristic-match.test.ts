import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import { settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import type { EventMessage } from "../../../../shared/orders/outcome-queue.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { koboFromNaira } from "../../../../shared/platform/money.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { applyOutcomeMessage } from "../../../../shared/upstream-events/apply-upstream-event.ts";
import { listEvents } from "../../../../shared/upstream-events/stored-event.ts";
import { anEvent, anOpenOrder, aPhoneNumber, keyedHashes } from "../../../builders/event-message.ts";
import { type FaultyLedger, openFaultyLedger } from "../../../builders/faulty-ledger.ts";
import { NOON_MS } from "../../../builders/noon.ts";
import { emulatorClient } from "../../../builders/tables.ts";

/**
 * Goal: an event with an unknown reference settles at most the one order that it can be about, or is escalated.
 */
const AGE_MS = 180_000;
const MINUTE_MS = 60_000;
let ledger: FaultyLedger;
beforeAll(async () => {
  ledger = await openFaultyLedger();
});
beforeEach(() => ledger.reset());
afterAll(() => ledger.proxy.stop());

/** Applies an event that is too old for another retry. */
const apply = (event: EventMessage, deadline = deadlineIn(20_000)) => {
  ledger.nowMs = Date.parse(event.received_at) + AGE_MS;
  return applyOutcomeMessage({ ledger, keyedHashes })(event, deadline);
};
const made = (ageMs: number): Partial<Transaction> => ({ created_at: isoTime(NOON_MS - ageMs) });

test("a success is matched with the only order that fits, which gets the event's reference", async () => {
  const phoneNumber = aPhoneNumber();
  const order = await anOpenOrder(ledger, { phone_number: phoneNumber });
  const event = await anEvent({ phoneNumber });
  expect(await apply(event)).toEqual({ kind: "done", outcome: "matched" });
  expect(await order.stored()).toMatchObject({ status: "success", upstream_reference: event.reference });
  expect(await order.balance()).toBe(1_500);
});

test("an order made exactly 30 minutes before the event is matched, and a second event finds no order", async () => {
  const phoneNumber = aPhoneNumber();
  const order = await anOpenOrder(ledger, { phone_number: phoneNumber, ...made(30 * MINUTE_MS) });
  expect(await apply(await anEvent({ phoneNumber }))).toEqual({ kind: "done", outcome: "matched" });
  expect(await order.stored()).toMatchObject({ status: "success" });
  expect(await apply(await anEvent({ phoneNumber }))).toMatchObject({ outcome: "no_candidate" });
});

test("an event that fits two orders settles neither and is escalated", async () => {
  const phoneNumber = aPhoneNumber();
  const orders = [
    await anOpenOrder(ledger, { phone_number: phoneNumber }),
    await anOpenOrder(ledger, { phone_number: phoneNumber }),
  ];
  const event = await anEvent({ phoneNumber });
  expect(await apply(event)).toEqual({ kind: "done", outcome: "several_candidates" });
  for (const order of orders) expect(await order.stored()).toMatchObject({ status: "processing" });
  const stored = (await listEvents(ledger, "0000")).filter(({ reference }) => reference === event.reference);
  expect(stored).toMatchObject([{ reason: "several_candidates", phone_masked: "0803****567" }]);
});

test("an event that fits a recent order and one that is too old settles neither and is escalated", async () => {
  const phoneNumber = aPhoneNumber();
  await anOpenOrder(ledger, { phone_number: phoneNumber, ...made(31 * MINUTE_MS) });
  const recent = await anOpenOrder(ledger, { phone_number: phoneNumber });
  expect(await apply(await anEvent({ phoneNumber }))).toEqual({ kind: "done", outcome: "several_candidates" });
  expect(await recent.stored()).toMatchObject({ status: "processing" });
});

test.each<readonly [string, Partial<Transaction>, Parameters<typeof anEvent>[0]]>([
  ["has another phone number", {}, { phoneNumber: "08030000000" }],
  ["has another amount", {}, { amount_kobo: koboFromNaira(500.01) }],
  ["has another type", {}, { type: "airtime" }],
  ["was made 31 minutes before the event", made(31 * MINUTE_MS), {}],
  ["was made after the event", made(-1_000), {}],
  ["has no phone number", { phone_number: undefined }, {}],
  ["has an upstream reference", { upstream_reference: `U-${randomUUID()}` }, {}],
  ["cannot be compared with an event without an amount", {}, { amount_kobo: undefined }],
  ["cannot be compared with an event without a type", {}, { type: undefined }],
  ["cannot be compared with an event without a phone number", {}, { phone: undefined }],
  ["has no phone number, like the event", { phone_number: undefined }, { phone: undefined }],
])("an order that %s is not matched", async (_name, orderChanges, eventChanges) => {
  const phoneNumber = aPhoneNumber();
  const order = await anOpenOrder(ledger, { phone_number: phoneNumber, ...orderChanges });
  const event = await anEvent({ phoneNumber, ...eventChanges });
  expect(await apply(event)).toEqual({ kind: "done", outcome: "no_candidate" });
  expect(await order.stored()).toMatchObject({ status: "processing" });
});

test("a failed is never matched: it is escalated once, and the money stays debited", async () => {
  const phoneNumber = aPhoneNumber();
  const order = await anOpenOrder(ledger, { phone_number: phoneNumber });
  const event = await anEvent({ phoneNumber, status: "failed" });
  for (let copy = 0; copy < 2; copy += 1) {
    expect(await apply(event)).toEqual({ kind: "done", outcome: "unknown_failure" });
  }
  expect(await order.balance()).toBe(1_500);
  const stored = (await listEvents(ledger, "0000")).filter(({ reference }) => reference === event.reference);
  expect(stored).toHaveLength(1);
});

test("a match whose write meets conflicts until the deadline is retried after a second", async () => {
  const phoneNumber = aPhoneNumber();
  await anOpenOrder(ledger, { phone_number: phoneNumber });
  ledger.proxy.fault = ({ operation }) => (operation === "TransactWriteItems" ? "conflict" : undefined);
  expect(await apply(await anEvent({ phoneNumber }), deadlineIn(0))).toEqual({
    kind: "retry",
    reason: "candidate_changed",
    afterS: 1,
  });
});

test.each([
  ["a copy of the event, which the index does not show yet", "copy"],
  ["a settlement of the service", "settlement"],
])("an event whose own order was settled just now by %s settles no other order", async (_name, by) => {
  const phoneNumber = aPhoneNumber();
  const event = await anEvent({ phoneNumber });
  const first = await anOpenOrder(ledger, { phone_number: phoneNumber });
  const second = await anOpenOrder(ledger, { phone_number: phoneNumber, ...made(-MINUTE_MS) });
  const late = { ...event, received_at: isoTime(NOON_MS + MINUTE_MS) };
  const settlement = { status: "success", upstream_reference: event.reference } as const;
  const settleFirst = () =>
    by === "copy" ? apply(event) : settleTransaction(ledger, first.transaction, settlement, deadlineIn(20_000));

  const db = emulatorClient(ledger.proxy.endpoint);
  db.middlewareStack.add(
    (next) => async (args) => {
      const index = z.object({ IndexName: z.string() }).safeParse(args.input).data?.IndexName;
      // After the lookup of the reference and before the list of open orders, which then has the second one only.
      if (index === "by_open") await settleFirst();
      const output = await next(args);
      if (index === "by_upstream_reference" && by === "copy") Object.assign(output.output, { Items: [] });
      return output;
    },
    { step: "initialize", priority: "high" },
  );
  ledger.nowMs = Date.parse(late.received_at) + AGE_MS;
  const result = await applyOutcomeMessage({ ledger: { ...ledger, db, clock: ledger.clock }, keyedHashes })(
    late,
    deadlineIn(20_000),
  );
  expect(result).toEqual({ kind: "retry", reason: "candidate_changed", afterS: 1 });
  expect((await first.stored())?.status).toBe("success");
  expect((await second.stored())?.status).toBe("processing");
});
