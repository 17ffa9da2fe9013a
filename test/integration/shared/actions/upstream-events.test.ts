import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { upstreamEventsRuns } from "../../../../shared/actions/upstream-events.ts";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { readTransactionAudit } from "../../../../shared/ledger/audit.ts";
import { referenceOf } from "../../../../shared/ledger/transaction.ts";
import type { EventMessage } from "../../../../shared/orders/outcome-message.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { NotFoundError } from "../../../../shared/platform/operator-error.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { CLOCK_DIFFERENCE_MS_MAX } from "../../../../shared/platform/time-budgets.ts";
import { enqueueOrder } from "../../../../shared/queued-orders/queue-store.ts";
import { recordEvent, recordUnreadable, storedEventId } from "../../../../shared/upstream-events/stored-event.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { anActionContext } from "../../../builders/ledger/action-context.ts";
import { type OperatorLedger, openOperatorLedger } from "../../../builders/ledger/operator-ledger.ts";
import { claimAsSender, storedQueued } from "../../../builders/ledger/queued-order.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { aTransactionPk, storedEventUnder } from "../../../builders/upstream/event-message.ts";

/** Open orders of one test are candidates of another's events, so each test has its own tables. */
const openEvents = async () => {
  const operator: OperatorLedger = await openOperatorLedger();
  const context = anActionContext(operator.tables);
  const anEvent = async (changes: Partial<EventMessage> = {}, transactionPk?: string): Promise<string> => {
    const reference = `U-${randomUUID()}`;
    const event: EventMessage = {
      ...{ kind: "event", mode: "live", received_at: isoTime(NOON_MS), reference, status: "success" },
      ...{ type: "data", amount_kobo: koboFromNaira(500), phone: { key: "h", masked: "0803****567" } },
      ...changes,
    };
    await recordEvent(operator.ledgerAt(), event, "no_candidate", transactionPk);
    return idOf(event.reference);
  };
  const idOf = async (reference: string): Promise<string> =>
    storedEventId(await storedEventUnder(operator.ledgerAt(), reference));
  const candidates = async (event: string) =>
    (await upstreamEventsRuns["events candidates"](context, { event })).candidates;
  return { operator, context, anEvent, idOf, candidates };
};
const events = await openEvents();

test("candidates are the open orders that were sent before the event, those with the fewest differences first", async () => {
  const { operator, anEvent, candidates } = await openEvents();
  const anOrder = async (changes: Parameters<OperatorLedger["anOrder"]>[0] = {}) =>
    referenceOf((await operator.anOrder(changes)).transaction);
  const earlier = { created_at: isoTime(NOON_MS - 3_600_000), updated_at: isoTime(NOON_MS - 3_600_000) };
  const older = await anOrder({ phone_number: "08031234567", ...earlier });
  const other = await anOrder({ phone_number: "08099999999", amount_kobo: koboFromNaira(300) });
  const same = await anOrder({ phone_number: "08031234567" });
  // None of these can be meant.
  await anOrder({ upstream_reference: "U-known" });
  await anOrder({ created_at: isoTime(NOON_MS + 60_000), updated_at: isoTime(NOON_MS + 60_000) });
  const waiting = await operator.anOrder();
  const toSend = { kind: "data", network_id: 1, plan_id: 101 } as const;
  await enqueueOrder(operator.ledgerAt(), waiting.transaction, toSend, deadlineIn(9_000));

  const late = await operator.anOrder();
  await enqueueOrder(operator.ledgerAt(), late.transaction, toSend, deadlineIn(9_000));
  const sentMs = NOON_MS + CLOCK_DIFFERENCE_MS_MAX + 1;
  await claimAsSender(operator.ledgerAt(sentMs), await storedQueued(operator.ledgerAt(), late.transaction.pk));

  const found = await candidates(await anEvent());
  expect(found.map(({ reference }) => reference)).toEqual([same, older, other]);
  expect(found[0]).toMatchObject({ sent_before_s: 60, amount: 500, status: "processing", differences: [] });
  expect(found[1]).toMatchObject({ sent_before_s: 3_600, differences: [] });
  expect(found[2]?.differences).toEqual([
    { field: "amount", event: "NGN 500.00", transaction: "NGN 300.00" },
    { field: "phone number", event: "0803****567", transaction: "08099999999" },
  ]);

  const { accountId } = await operator.anAccount();
  for (let more = 0; more < 18; more += 1) await operator.openFor(accountId, { amount_kobo: koboFromNaira(10) });
  const most = await candidates(await anEvent());
  expect(most).toHaveLength(20);
  expect(most.slice(0, 2).map(({ reference }) => reference)).toEqual([same, older]);
});

test("a candidate has what the upstream should state of it beside its price: that is compared with the event", async () => {
  const { operator, anEvent, candidates } = await openEvents();
  await operator.anOrder({ amount_kobo: koboFromNaira(490), face_kobo: koboFromNaira(500) });
  expect(await candidates(await anEvent())).toMatchObject([{ amount: 490, expected_amount: 500, differences: [] }]);
});

test("an order that a clock may have dated after its own event is a candidate whose time differs", async () => {
  const { operator, anEvent, candidates } = await openEvents();
  const at = isoTime(NOON_MS + CLOCK_DIFFERENCE_MS_MAX);
  const { transaction } = await operator.anOrder({ created_at: at, updated_at: at, listed_at: at });
  expect(await candidates(await anEvent())).toMatchObject([
    { reference: referenceOf(transaction), sent_before_s: -10, differences: [{ field: "time" }] },
  ]);
});

test("an order that was sent after the event came, but before the event was stored, is no candidate", async () => {
  const { operator, context, anEvent } = await openEvents();
  const order = await operator.anOrder();
  const sentAt = isoTime(NOON_MS - 30_000);
  await operator.anOrder({ created_at: sentAt, updated_at: sentAt });
  const event = await anEvent({ received_at: isoTime(NOON_MS - 45_000) });
  expect(await upstreamEventsRuns["events candidates"](context, { event })).toMatchObject({
    event: { at: isoTime(NOON_MS - 45_000) },
    candidates: [{ reference: referenceOf(order.transaction), sent_before_s: 15 }],
  });
});

test("the only candidate of an event whose transaction is known is that transaction", async () => {
  const { operator, anEvent, candidates } = await openEvents();
  await operator.anOrder();
  const { transaction } = await operator.anOrder();
  const found = await candidates(await anEvent({ status: "failed" }, transaction.pk));
  expect(found.map(({ reference }) => reference)).toEqual([referenceOf(transaction)]);
  // A restored ledger may lack it.
  expect(await candidates(await anEvent({ status: "failed" }, "transaction#lost"))).toEqual([]);
});

test("an event that cannot be read has no candidates", async () => {
  const { operator, context, idOf } = await openEvents();
  await operator.anOrder();
  const message = {
    kind: "unreadable_event",
    mode: "live",
    digest: "d".repeat(43),
    problem: "status reversed",
  } as const;
  await recordUnreadable(operator.ledgerAt(), { ...message, reference: "U-unreadable" });
  const event = await idOf("U-unreadable");
  expect(await upstreamEventsRuns["events candidates"](context, { event })).toMatchObject({
    event: { event, reason: "unreadable", says: "status reversed", amount: null },
    candidates: [],
  });
});

test("a match of an order that differs is refused until the operator accepts the differences", async () => {
  const { operator, context, anEvent } = events;
  const order = await operator.anOrder({ pk: await aTransactionPk(), amount_kobo: koboFromNaira(300) });
  const event = await anEvent();
  const reference = referenceOf(order.transaction);
  const input = { event, reference, why: "ticket 88" };
  await expect(
    upstreamEventsRuns["events match"](context, { ...input, accepts_differences: false }),
  ).rejects.toMatchObject({
    sentence: `The event differs from ${reference} in amount (NGN 500.00, not NGN 300.00)`,
    message: expect.stringMatching(/300\.00\): --although-different matches them nevertheless$/),
  });
  expect(await upstreamEventsRuns["events match"](context, { ...input, accepts_differences: true })).toEqual({
    reference,
    account_id: order.accountId,
    status: "success",
    amount: 300,
    refunded: 0,
    differences: [{ field: "amount", event: "NGN 500.00", transaction: "NGN 300.00" }],
  });
  expect(await readTransactionAudit(context.ledger, order.transaction)).toMatchObject([
    { action: "events match", by: "ada", why: "ticket 88" },
  ]);
});

test("an event that was discarded is listed under its state only", async () => {
  const { context, anEvent } = events;
  const event = await anEvent();
  await upstreamEventsRuns["events discard"](context, { event, why: "the upstream tested" });
  const listed = async (state: "open" | "discarded") =>
    (await upstreamEventsRuns["events list"](context, { state })).events.map((each) => each.event);
  expect(await listed("open")).not.toContain(event);
  expect(await listed("discarded")).toContain(event);
});

test("the list of open events reads those, and no list reads more than 500, however many are kept", async () => {
  const { operator, context, anEvent } = await openEvents();
  const open = [await anEvent()];
  const closed = Array.from({ length: 700 }, (_, index) => ({
    ...{ pk: `event#closed-${index}`, list_key: "events", state: index < 400 ? "matched" : "discarded" },
    ...{ reason: "no_candidate", reference: `U-${index}`, says: "success", created_at: isoTime(NOON_MS + 1 + index) },
  }));
  const { db, ledgerTable } = operator.tables;
  await putItems(db, ledgerTable, closed);
  const reads = vi.spyOn(db, "batchGet");
  const keysRead = () => reads.mock.calls.flatMap(([{ RequestItems }]) => RequestItems?.[ledgerTable]?.Keys ?? []);
  const listed = async (state: "open" | "matched" | "all") => {
    reads.mockClear();
    const { events } = await upstreamEventsRuns["events list"](context, { state });
    return { ids: events.map(({ event }) => event), read: keysRead().length };
  };
  expect(await listed("open")).toEqual({ ids: open, read: 1 });
  const latest = closed.slice(200).map(({ pk }) => pk.replace("#", "_"));
  expect(await listed("all")).toEqual({ ids: latest, read: 500 });
  expect((await listed("matched")).ids).toEqual(latest.slice(0, 200));
});

test("an event that does not exist has no candidates, and the sentence names no command", async () => {
  const missing = upstreamEventsRuns["events candidates"](events.context, { event: "event_none" });
  await expect(missing).rejects.toThrow(NotFoundError);
  await expect(missing).rejects.toMatchObject({ sentence: "There is no event event_none" });
});
