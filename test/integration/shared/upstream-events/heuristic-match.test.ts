import { randomUUID } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import * as z from "#zod";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import type { Ledger } from "../../../../shared/ledger/ledger.ts";
import { settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import type { EventMessage } from "../../../../shared/orders/outcome-message.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { CLOCK_DIFFERENCE_MS_MAX } from "../../../../shared/platform/time-budgets.ts";
import { enqueueOrder } from "../../../../shared/queued-orders/queue-store.ts";
import { applyOutcomeMessage } from "../../../../shared/upstream-events/apply-outcome-message.ts";
import { DECISION_AGE_MS } from "../../../../shared/upstream-events/apply-upstream-event.ts";
import { discardEvent } from "../../../../shared/upstream-events/operator-resolution.ts";
import { findEvent, storedEventId } from "../../../../shared/upstream-events/stored-event.ts";
import { beforeNext } from "../../../builders/dynamodb/another-process.ts";
import { beforeEachCall } from "../../../builders/dynamodb/before-each-call.ts";
import { hideFromIndex } from "../../../builders/dynamodb/hide-from-index.ts";
import { emulatorClient } from "../../../builders/dynamodb/tables.ts";
import { faultyLedgerForTests } from "../../../builders/ledger/faulty-ledger.ts";
import { claimAsSender, storedQueued } from "../../../builders/ledger/queued-order.ts";
import { keyedHashes } from "../../../builders/ledger/secrets.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import {
  anEvent,
  anOpenOrder,
  aPhoneNumber,
  storedEventUnder,
  storedUnder,
} from "../../../builders/upstream/event-message.ts";
import { FACE_VALUES } from "../../../builders/upstream/upstream-costs.ts";

/**
 * Goal: an event with an unknown reference settles at most the one order that it can be about, or is escalated.
 */
const ledger = await faultyLedgerForTests();

const done = (outcome: string) => ({ kind: "done", outcome });
const applyIn = (inLedger: Ledger, event: EventMessage, deadline = deadlineIn(20_000)) =>
  applyOutcomeMessage({ ledger: inLedger, keyedHashes, costs: FACE_VALUES })(event, deadline);
/** Applies an event as it is after this long. */
const applyAt = (event: EventMessage, ageMs: number, deadline?: Deadline) => {
  ledger.nowMs = Date.parse(event.received_at) + ageMs;
  return applyIn(ledger, event, deadline);
};
/** Applies an event that is too old for another retry. */
const apply = (event: EventMessage, deadline?: Deadline) => applyAt(event, DECISION_AGE_MS, deadline);
const storedOf = ({ reference }: EventMessage) => storedUnder(ledger, reference);
const made = (ageMs: number): Partial<Transaction> => ({ created_at: isoTime(NOON_MS - ageMs) });

test("a success is matched with the only order that fits, which gets the event's reference, and no other open order is read", async () => {
  const phoneNumber = aPhoneNumber();
  await anOpenOrder(ledger, { phone_number: aPhoneNumber() });
  const order = await anOpenOrder(ledger, { phone_number: phoneNumber });
  const event = await anEvent({ phoneNumber });
  const batchGet = vi.spyOn(ledger.db, "batchGet");
  expect(await apply(event)).toEqual(done("matched"));
  const read = batchGet.mock.calls.flatMap(([{ RequestItems }]) => RequestItems?.[ledger.table]?.Keys ?? []);
  expect(read).toHaveLength(1);
  const settled = { status: "success", reported_by: "event", upstream_reference: event.reference };
  expect(await order.stored()).toMatchObject(settled);
  expect(await order.balance()).toBe(1_500);
});

test("an order made exactly 30 minutes before the event is matched, and a second event finds no order", async () => {
  const phoneNumber = aPhoneNumber();
  const order = await anOpenOrder(ledger, { phone_number: phoneNumber, ...made(30 * MINUTE_MS) });
  expect(await apply(await anEvent({ phoneNumber }))).toEqual(done("matched"));
  expect(await order.stored()).toMatchObject({ status: "success" });
  expect(await apply(await anEvent({ phoneNumber }))).toMatchObject({ outcome: "no_candidate" });
});

test("an order of the sandbox is matched with no event, and hides no live one", async () => {
  const phoneNumber = aPhoneNumber();
  const sandbox = await anOpenOrder(ledger, { phone_number: phoneNumber, mode: "test", open: undefined });
  expect(await apply(await anEvent({ phoneNumber }))).toMatchObject({ outcome: "no_candidate" });
  const live = await anOpenOrder(ledger, { phone_number: phoneNumber });
  expect(await apply(await anEvent({ phoneNumber }))).toEqual(done("matched"));
  expect([(await sandbox.stored())?.status, (await live.stored())?.status]).toEqual(["processing", "success"]);
});

test("an event that fits two orders settles neither and is escalated", async () => {
  const phoneNumber = aPhoneNumber();
  const orders = [
    await anOpenOrder(ledger, { phone_number: phoneNumber }),
    await anOpenOrder(ledger, { phone_number: phoneNumber }),
  ];
  const event = await anEvent({ phoneNumber });
  expect(await apply(event)).toEqual(done("several_candidates"));
  for (const order of orders) expect(await order.stored()).toMatchObject({ status: "processing" });
  expect(await storedOf(event)).toMatchObject([{ reason: "several_candidates", phone_masked: "0803****567" }]);
});

test("an event that fits a recent order and one that is too old settles neither and is escalated", async () => {
  const phoneNumber = aPhoneNumber();
  await anOpenOrder(ledger, { phone_number: phoneNumber, ...made(31 * MINUTE_MS) });
  const recent = await anOpenOrder(ledger, { phone_number: phoneNumber });
  expect(await apply(await anEvent({ phoneNumber }))).toEqual(done("several_candidates"));
  expect(await recent.stored()).toMatchObject({ status: "processing" });
});

test.each([
  ["was made", (afterMs: number) => made(-afterMs)],
  ["waited, and was sent", (afterMs: number) => ({ ...made(MINUTE_MS), sent_at: isoTime(NOON_MS + afterMs) })],
])(
  "an order that %s when a clock may have dated it after its own event keeps an older one that looks the same from being matched",
  async (_what, sentAfter) => {
    for (const [afterMs, outcome] of [
      [1, "several_candidates"],
      [CLOCK_DIFFERENCE_MS_MAX, "several_candidates"],
      [CLOCK_DIFFERENCE_MS_MAX + 1, "matched"],
    ] as const) {
      const phoneNumber = aPhoneNumber();
      const older = await anOpenOrder(ledger, { phone_number: phoneNumber, ...made(5 * MINUTE_MS) });
      const younger = await anOpenOrder(ledger, { phone_number: phoneNumber, ...sentAfter(afterMs) });
      expect(await apply(await anEvent({ phoneNumber })), String(afterMs)).toEqual(done(outcome));
      expect((await older.stored())?.status).toBe(outcome === "matched" ? "success" : "processing");
      expect((await younger.stored())?.status).toBe("processing");
    }
  },
);

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
  expect(await apply(event)).toEqual(done("no_candidate"));
  expect(await order.stored()).toMatchObject({ status: "processing" });
});

describe("an order that waited for the upstream's limit", () => {
  const toSend = { kind: "data", network_id: 1, plan_id: 101 } as const;
  const aFit = async () => {
    const phoneNumber = aPhoneNumber();
    const order = await anOpenOrder(ledger, { phone_number: phoneNumber });
    const enqueue = () => enqueueOrder(ledger, order.transaction, toSend, deadlineIn(20_000));
    return { ...order, phoneNumber, enqueue };
  };

  test("is matched with an event that was received once it was sent, and not with one before", async () => {
    const { transaction, stored, phoneNumber, enqueue } = await aFit();
    await enqueue();
    ledger.nowMs = NOON_MS + 1;
    expect(await claimAsSender(ledger, await storedQueued(ledger, transaction.pk))).toMatchObject({ kind: "claimed" });
    expect(await apply(await anEvent({ phoneNumber }))).toEqual(done("no_candidate"));
    expect(await stored()).toMatchObject({ status: "processing" });
    const later = await anEvent({ phoneNumber, received_at: isoTime(NOON_MS + 1) });
    expect(await apply(later)).toEqual(done("matched"));
  });

  test("is not charged by a match while it waits, although the index lists it as sent", async () => {
    const { stored, phoneNumber, enqueue } = await aFit();
    beforeNext(ledger.db, "batchGet", async () => expect(await enqueue()).toMatchObject({ kind: "queued" }));
    expect(await apply(await anEvent({ phoneNumber }))).toEqual(done("no_candidate"));
    expect(await stored()).toMatchObject({ status: "processing", queued: { order: toSend } });
  });
});

test("a failed is never matched: it is escalated once, and the money stays debited", async () => {
  const phoneNumber = aPhoneNumber();
  const order = await anOpenOrder(ledger, { phone_number: phoneNumber });
  const event = await anEvent({ phoneNumber, status: "failed" });
  for (let copy = 0; copy < 2; copy += 1) {
    expect(await apply(event)).toEqual(done("unknown_failure"));
  }
  expect(await order.balance()).toBe(1_500);
  expect(await storedOf(event)).toHaveLength(1);
});

describe("two events that contradict each other under one unknown reference", () => {
  /** An order that both fit, in a ledger that never learnt its upstream reference. */
  const twoEvents = async () => {
    const phoneNumber = aPhoneNumber();
    const order = await anOpenOrder(ledger, { phone_number: phoneNumber });
    const reference = `U-${randomUUID()}`;
    const success = await anEvent({ phoneNumber, reference });
    const failed = await anEvent({ phoneNumber, reference, status: "failed" });
    return { order, success, failed };
  };
  const RETRY = { kind: "retry", reason: "reference_unknown" };
  const CONFLICT = done("conflicting_events");
  const expectBothKept = async ({ order, success }: Awaited<ReturnType<typeof twoEvents>>): Promise<void> => {
    expect(await order.stored()).toEqual(order.transaction);
    const stored = await storedOf(success);
    expect(stored).toHaveLength(2);
    expect(stored).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ reason: "conflicting_events", says: "success", state: "open" }),
        expect.objectContaining({ reason: "conflicting_events", says: "failed", state: "open" }),
      ]),
    );
  };

  test("a failed that waits for its next retry keeps the success from being matched", async () => {
    const events = await twoEvents();
    expect(await applyAt(events.failed, 0)).toMatchObject(RETRY);
    expect(await applyAt(events.success, DECISION_AGE_MS)).toEqual(CONFLICT);
    expect(await applyAt(events.failed, DECISION_AGE_MS)).toEqual(CONFLICT);
    await expectBothKept(events);
  });

  test("a failed that an operator was given already keeps the success from being matched, and gets its reason", async () => {
    const events = await twoEvents();
    expect(await applyAt(events.failed, DECISION_AGE_MS)).toEqual(done("unknown_failure"));
    expect(await applyAt(events.success, 0)).toMatchObject(RETRY);
    expect(await applyAt(events.success, DECISION_AGE_MS)).toEqual(CONFLICT);
    await expectBothKept(events);
  });

  test("a failed after a success that fits no order gives both one reason", async () => {
    const events = await twoEvents();
    const other = { ...events.success, amount_kobo: koboFromNaira(501) };
    expect(await applyAt(other, DECISION_AGE_MS)).toEqual(done("no_candidate"));
    expect(await applyAt(events.failed, 0)).toMatchObject(RETRY);
    expect(await applyAt(events.failed, DECISION_AGE_MS)).toEqual(CONFLICT);
    await expectBothKept(events);
  });

  test("a failed after the match is a contradiction of the order's final status, before the index shows the match too", async () => {
    const { order, success, failed } = await twoEvents();
    expect(await applyAt(success, DECISION_AGE_MS)).toEqual(done("matched"));
    const db = emulatorClient(ledger.proxy.endpoint);
    hideFromIndex(db, (_, { IndexName }) => IndexName === "by_upstream_reference");
    const lagging = { ...ledger, db, clock: () => NOON_MS };
    expect(await applyIn(lagging, failed)).toEqual(done("contradiction"));
    expect(await applyIn(lagging, { ...success, received_at: isoTime(0) })).toEqual(done("duplicate"));
    const [stored] = await storedOf(failed);
    expect(stored).toMatchObject({ reason: "contradiction", transaction_pk: order.transaction.pk });
    expect(await order.stored()).toMatchObject({ status: "success" });
    expect(await order.balance()).toBe(1_500);
  });

  test("a failed that is noted between a match's lookup and its write keeps it from being written", async () => {
    const events = await twoEvents();
    const db = emulatorClient(ledger.proxy.endpoint);
    beforeEachCall(db, "transactWrite", async () => {
      expect(await applyAt(events.failed, 0)).toMatchObject(RETRY);
    });
    const apart = { ...ledger, db, clock: () => NOON_MS + DECISION_AGE_MS };
    const result = await applyIn(apart, events.success);
    expect(result).toEqual({ kind: "retry", reason: "candidate_changed", afterS: 1 });
    expect(await applyAt(events.success, DECISION_AGE_MS)).toEqual(CONFLICT);
    expect(await applyAt(events.failed, DECISION_AGE_MS)).toEqual(CONFLICT);
    await expectBothKept(events);
  });

  test("a failed that is stored at once with a success that fits no order gives both one reason", async () => {
    const events = await twoEvents();
    const other = { ...events.success, amount_kobo: koboFromNaira(501) };
    beforeNext(ledger.db, "put", async () =>
      expect(await applyAt(other, DECISION_AGE_MS)).toEqual(done("no_candidate")),
    );
    expect(await applyAt(events.failed, DECISION_AGE_MS)).toEqual(CONFLICT);
    await expectBothKept(events);
  });

  test("a success that cannot give both the same reason rejects, and does once it is received again", async () => {
    const events = await twoEvents();
    await applyAt(events.failed, DECISION_AGE_MS);
    ledger.proxy.fault = ({ body }) => (body.includes("SET #reason") ? "never_arrives" : undefined);
    await expect(applyAt(events.success, DECISION_AGE_MS)).rejects.toThrow();
    ledger.reset();
    expect(await applyAt(events.success, DECISION_AGE_MS)).toEqual(CONFLICT);
    await expectBothKept(events);
  });

  test.each([
    ["failed", "contradiction"],
    ["success", "no_candidate"],
  ] as const)("a %s whose reference is matched while the event is stored is a %s", async (status, reason) => {
    const events = await twoEvents();
    const other = { ...events.success, amount_kobo: koboFromNaira(501) };
    const event = status === "failed" ? events.failed : other;
    beforeNext(ledger.db, "put", async () =>
      expect(await applyAt(events.success, DECISION_AGE_MS)).toEqual(done("matched")),
    );
    expect(await applyAt(event, DECISION_AGE_MS)).toEqual({ kind: "done", outcome: reason });
    const about = status === "failed" ? { transaction_pk: events.order.transaction.pk } : {};
    expect(await storedOf(event)).toMatchObject([{ says: status, reason, state: "open", ...about }]);
  });

  test("a failed that is noted, and whose own order then records the reference, is applied to it", async () => {
    const { order, failed } = await twoEvents();
    expect(await applyAt(failed, 0)).toMatchObject(RETRY);
    const named = { status: "processing", upstream_reference: failed.reference } as const;
    await settleTransaction(ledger, order.transaction, named, deadlineIn(20_000));
    expect(await applyAt(failed, 5_000)).toEqual(done("applied"));
    expect(await order.balance()).toBe(2_000);
  });

  test("events that an operator closed keep their reason", async () => {
    const { success, failed } = await twoEvents();
    await applyAt(failed, DECISION_AGE_MS);
    const stored = await storedEventUnder(ledger, failed.reference);
    await discardEvent(ledger, stored, { by: "ada", why: "ticket 7" });
    expect(await applyAt(success, DECISION_AGE_MS)).toEqual(CONFLICT);
    const closed = await findEvent(ledger, storedEventId(stored));
    expect(closed).toMatchObject({ state: "discarded", reason: "unknown_failure" });
  });
});

describe("what an event with an unknown reference costs", () => {
  /** The units of each attempt, by operation. */
  const costOf = async (event: EventMessage) => {
    const attempts: Record<string, number>[] = [];
    for (const ageMs of [0, 5_000, 30_000, DECISION_AGE_MS]) {
      ledger.proxy.calls.length = 0;
      await applyAt(event, ageMs);
      const units: Record<string, number> = {};
      for (const { operation, tableUnits } of ledger.proxy.calls) {
        units[operation] = (units[operation] ?? 0) + tableUnits;
      }
      attempts.push(units);
    }
    return attempts;
  };

  test("a success that is matched writes nothing before its match, and reads one item more for it", async () => {
    const phoneNumber = aPhoneNumber();
    await anOpenOrder(ledger, { phone_number: phoneNumber });
    const [first, second, third, match] = await costOf(await anEvent({ phoneNumber }));
    expect([first, second, third].map((units) => Object.keys(units ?? {}))).toEqual([["Query"], ["Query"], ["Query"]]);
    expect(match).toMatchObject({ GetItem: 1, TransactWriteItems: expect.any(Number) });
    expect(match).not.toHaveProperty("PutItem");
    expect(match).not.toHaveProperty("UpdateItem");
  });

  test("a failed writes one unit at each attempt, and another to be stored", async () => {
    const [first, second, third, stored] = await costOf(await anEvent({ status: "failed" }));
    expect([first, second, third]).toMatchObject([{ UpdateItem: 1 }, { UpdateItem: 1 }, { UpdateItem: 1 }]);
    expect(stored).toMatchObject({ PutItem: 1, UpdateItem: 1 });
  });
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

/** Applies an event that is too old for another retry, while `between` runs after the lookup of its reference. */
const applyBeside = (event: EventMessage, { between, hidesMatch }: { between: () => unknown; hidesMatch: boolean }) => {
  const db = emulatorClient(ledger.proxy.endpoint);
  db.middlewareStack.add(
    (next) => async (args) => {
      const index = z.object({ IndexName: z.string() }).safeParse(args.input).data?.IndexName;
      // Before the candidates, which then lack the first one.
      if (index === "by_phone") await between();
      const output = await next(args);
      if (index === "by_upstream_reference" && hidesMatch) Object.assign(output.output, { Items: [] });
      return output;
    },
    { step: "initialize", priority: "high" },
  );
  ledger.nowMs = Date.parse(event.received_at) + DECISION_AGE_MS;
  return applyIn({ ...ledger, db, clock: ledger.clock }, event);
};

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
  const between = () =>
    by === "copy" ? apply(event) : settleTransaction(ledger, first.transaction, settlement, deadlineIn(20_000));

  const result = await applyBeside(late, { between, hidesMatch: by === "copy" });
  expect(result).toEqual({ kind: "retry", reason: "candidate_changed", afterS: 1 });
  expect((await first.stored())?.status).toBe("success");
  expect((await second.stored())?.status).toBe("processing");
});

test("a copy of an event that was matched just now, before the index shows it, is a duplicate and no case for a person", async () => {
  const phoneNumber = aPhoneNumber();
  const event = await anEvent({ phoneNumber });
  const order = await anOpenOrder(ledger, { phone_number: phoneNumber });
  expect(await applyBeside(event, { between: () => apply(event), hidesMatch: true })).toEqual(done("duplicate"));
  expect((await order.stored())?.status).toBe("success");
  expect(await storedOf(event)).toEqual([]);
});
