import { randomBytes, randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import type { EventMessage, UnreadableMessage } from "../../../../shared/orders/outcome-message.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import {
  changeReason,
  countOpenEvents,
  findEvent,
  openEvents,
  recordEvent,
  recordUnreadable,
  storedEventId,
} from "../../../../shared/upstream-events/stored-event.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { faultyLedgerForTests } from "../../../builders/ledger/faulty-ledger.ts";
import { openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { anUnauthenticatedEvent, storedUnder as eventsUnder } from "../../../builders/upstream/event-message.ts";

/** Goal: an event for the operator is stored completely, once, and found by its id. */
const REASON = "no_candidate";
const ledger = await faultyLedgerForTests();

const storedUnder = (reference: string) => eventsUnder(ledger, reference);

test("a stored event has all fields of the message, the reason and its transaction", async () => {
  const event = await anUnauthenticatedEvent({ received_at: isoTime(NOON_MS - 360_000) });
  await recordEvent(ledger, event, REASON, "transaction#1");
  const [stored, ...others] = await storedUnder(event.reference);
  expect(others).toEqual([]);
  expect(stored).toEqual({
    pk: stored?.pk,
    list_key: "events",
    reason: REASON,
    state: "open",
    open: "events",
    listed_at: isoTime(NOON_MS),
    reference: event.reference,
    received_at: isoTime(NOON_MS - 360_000),
    says: "success",
    type: "data",
    amount_kobo: 50_000,
    phone_masked: "0803****567",
    transaction_pk: "transaction#1",
    created_at: isoTime(NOON_MS),
  });
});

test("an event without an amount, a type, a phone number and a transaction is stored without them", async () => {
  const { amount_kobo: _amount, type: _type, phone: _phone, ...event } = await anUnauthenticatedEvent();
  await recordEvent(ledger, event, REASON);
  const [stored] = await storedUnder(event.reference);
  const fields = "pk list_key reason state open listed_at reference received_at says created_at";
  expect(new Set(Object.keys(stored ?? {}))).toEqual(new Set(fields.split(" ")));
});

test("copies of an event are stored once, and the first one's reason stays", async () => {
  const event = await anUnauthenticatedEvent();
  await recordEvent(ledger, event, REASON);
  await recordEvent(ledger, { ...event, received_at: isoTime(NOON_MS + 1_000) }, "several_candidates");
  expect(await storedUnder(event.reference)).toMatchObject([{ reason: REASON }]);
});

test("events of one reference that differ in status, type, amount or phone number are stored separately", async () => {
  const event = await anUnauthenticatedEvent({ phone: { key: "one", masked: "0803****567" } });
  const { amount_kobo: _amount, phone: _phone, ...bare } = event;
  const events: readonly EventMessage[] = [
    event,
    bare,
    { ...event, status: "failed" },
    { ...event, type: "airtime" },
    { ...event, type: undefined },
    { ...event, amount_kobo: koboFromNaira(501) },
    { ...event, phone: { key: "other", masked: "0803****567" } },
  ];
  for (const one of events) await recordEvent(ledger, one, REASON);
  expect(await storedUnder(event.reference)).toHaveLength(events.length);
});

test("an event is found by its id with a strong read, and other ids find nothing", async () => {
  const event = await anUnauthenticatedEvent();
  await recordEvent(ledger, event, REASON);
  const [stored] = await storedUnder(event.reference);
  const id = stored ? storedEventId(stored) : "";
  const reads: string[] = [];
  ledger.proxy.fault = ({ operation, body }) => void (operation === "GetItem" && reads.push(body));
  expect(id).toMatch(/^event_[\w-]{32}$/);
  expect(await findEvent(ledger, id)).toEqual(stored);
  expect(await findEvent(ledger, `other_${id.slice("event_".length)}`)).toBeUndefined();
  expect(await findEvent(ledger, "event_0")).toBeUndefined();
  expect(reads).toHaveLength(2);
  for (const read of reads) expect(read).toContain('"ConsistentRead":true');
});

test("an event that the index still lists as open, although it is closed, is not open", async () => {
  const [open, closed] = [await anUnauthenticatedEvent(), await anUnauthenticatedEvent()];
  for (const event of [open, closed]) await recordEvent(ledger, event, REASON);
  const [stored] = await storedUnder(closed.reference);
  await ledger.db.put({ TableName: ledger.table, Item: { ...stored, state: "discarded" } });
  const references = (await openEvents(ledger)).map(({ reference }) => reference);
  expect(references).toContain(open.reference);
  expect(references).not.toContain(closed.reference);
});

test("all events that are open are counted, also more than a list shows", async () => {
  const { db, table, clock } = await openLedgerAtNoon();
  const at = isoTime(NOON_MS);
  const event = {
    ...{ list_key: "events", state: "open", open: "events", reason: REASON, says: "failed" },
    listed_at: at,
  };
  const stored = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      ...{ ...event, pk: `event#${index}`, reference: `U-${index}`, created_at: at },
      // The index may still list one that was closed.
      ...(index === 0 && { state: "discarded" }),
    }));
  await putItems(db, table, stored(500));
  expect(await countOpenEvents({ db, table, clock })).toBe(499);
  await putItems(db, table, stored(1_200));
  expect(await countOpenEvents({ db, table, clock })).toBe(1_200);
});

test("an unreadable event is stored under the hash of its message, with its problem and its transaction", async () => {
  const message: UnreadableMessage = {
    kind: "unreadable_event",
    mode: "live",
    digest: randomBytes(32).toString("base64url"),
    reference: `U-${randomUUID()}`,
    problem: "status reversed",
  };
  for (let copy = 0; copy < 2; copy += 1) await recordUnreadable(ledger, message, "transaction#1");
  expect(await findEvent(ledger, `event_${message.digest.slice(0, 32)}`)).toEqual({
    pk: `event#${message.digest.slice(0, 32)}`,
    list_key: "events",
    state: "open",
    open: "events",
    listed_at: isoTime(NOON_MS),
    reason: "unreadable",
    reference: message.reference,
    problem: "status reversed",
    transaction_pk: "transaction#1",
    created_at: isoTime(NOON_MS),
  });
});

test("a write that fails rejects, so that the message is retried", async () => {
  ledger.proxy.fault = ({ operation }) => (operation === "PutItem" ? "never_arrives" : undefined);
  await expect(recordEvent(ledger, await anUnauthenticatedEvent(), REASON)).rejects.toThrow();
  ledger.proxy.fault = ({ operation }) => (operation === "UpdateItem" ? "never_arrives" : undefined);
  await expect(changeReason(ledger, "event#1", "contradiction")).rejects.toThrow();
});
