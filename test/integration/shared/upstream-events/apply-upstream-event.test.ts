import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import { transactionPk } from "../../../../shared/ledger/schema.ts";
import { settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { referenceOf, type Transaction } from "../../../../shared/ledger/transaction.ts";
import type {
  EventMessage,
  OutcomeMessage,
  SettlementMessage,
  UnreadableMessage,
} from "../../../../shared/orders/outcome-queue.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { loadKeyedHashes } from "../../../../shared/platform/keyed-hashes.ts";
import { koboFromNaira } from "../../../../shared/platform/money.ts";
import { OperatorError } from "../../../../shared/platform/operator-error.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { applyOutcome } from "../../../../shared/upstream-events/apply-upstream-event.ts";
import { eventMac, type UnsignedEvent } from "../../../../shared/upstream-events/event-mac.ts";
import { resolveTransaction } from "../../../../shared/upstream-events/operator-resolution.ts";
import { findEvent, listEvents, recordEvent, storedEventId } from "../../../../shared/upstream-events/stored-event.ts";
import type { Fault } from "../../../builders/dynamodb-proxy.ts";
import { type FaultyLedger, NOON_MS, openFaultyLedger } from "../../../builders/faulty-ledger.ts";
import { emulatorClient } from "../../../builders/tables.ts";
import { aTransactionRow } from "../../../builders/transaction.ts";

/** Goal: what the outcomes queue says is applied to the very order that it speaks of, and what is not applied is kept. */
const key = "k".repeat(32);
const keyedHashes = loadKeyedHashes({ value: async () => key, refetch: async () => key });
let ledger: FaultyLedger;
beforeAll(async () => {
  ledger = await openFaultyLedger();
});
beforeEach(() => ledger.reset());
afterAll(() => ledger.proxy.stop());

const apply = (message: OutcomeMessage, deadline: Deadline = deadlineIn(20_000)) =>
  applyOutcome({ ledger, keyedHashes })(message, deadline);

/** An order of the sandbox has no wallet, and so nothing but itself. */
const anOrder = async (changes: Partial<Transaction> = {}): Promise<Transaction> => {
  const transaction = aTransactionRow({
    pk: transactionPk(randomUUID()),
    mode: "test",
    attempt: randomUUID(),
    ...changes,
  });
  expect(await openTransaction(ledger, transaction, [], deadlineIn(29_000))).toEqual({ kind: "opened" });
  return transaction;
};
const aVerdict = (transaction: Transaction, changes: Partial<SettlementMessage> = {}): SettlementMessage => ({
  kind: "settlement",
  mode: transaction.mode,
  transaction: transaction.pk,
  attempt: transaction.attempt,
  settlement: { status: "success" },
  ...changes,
});
const stands = async (transaction: Transaction) => (await readTransaction(ledger, transaction.pk))?.status;
const isSettling = ({ operation }: { operation: string }): boolean => operation === "UpdateItem";
const noTime = (): Deadline => deadlineIn(0);

describe("our own verdict", () => {
  test("ends its order, and again it is a duplicate", async () => {
    const transaction = await anOrder();
    expect(await apply(aVerdict(transaction))).toEqual({ kind: "done", outcome: "applied" });
    expect(await stands(transaction)).toBe("success");
    expect(await apply(aVerdict(transaction))).toEqual({ kind: "done", outcome: "duplicate" });
  });

  test.each([
    ["no order", { transaction: transactionPk("0123456789ABCDEFGHJKMNPQRT") }],
    ["another attempt", { attempt: "another" }],
    ["the other mode", { mode: "live" as const }],
  ])("on %s is dropped", async (_name, changes) => {
    const row = await anOrder();
    expect(await apply(aVerdict(row, changes))).toEqual({ kind: "done", outcome: "no_such_transaction" });
    expect(await stands(row)).toBe("processing");
  });

  test("on an order that has ended writes nothing", async () => {
    const row = await anOrder();
    await apply(aVerdict(row));
    ledger.proxy.calls.length = 0;
    await apply(aVerdict(row));
    expect(ledger.proxy.calls.map(({ operation }) => operation)).toEqual(["GetItem"]);
  });

  test("that comes after the end with nothing but a name is a duplicate", async () => {
    const row = await anOrder();
    await apply(aVerdict(row));
    const named = aVerdict(row, { settlement: { status: "processing", upstream_reference: "U1" } });
    expect(await apply(named)).toEqual({ kind: "done", outcome: "duplicate" });
  });

  test("against the end is not applied, and said aloud", async () => {
    const said = vi.spyOn(console, "log").mockImplementation(() => undefined);
    const row = await anOrder();
    await apply(aVerdict(row));
    const against = aVerdict(row, { settlement: { status: "failed", failure: { code: "delivery_failed" } } });
    expect(await apply(against)).toEqual({ kind: "done", outcome: "contradiction" });
    expect(await stands(row)).toBe("success");
    expect(said.mock.calls.flat().map(String).join()).toContain(row.pk);
  });

  test("whose write is not known to have happened comes again", async () => {
    const row = await anOrder();
    ledger.proxy.fault = (call) => (isSettling(call) ? "conflict" : undefined);
    expect(await apply(aVerdict(row), noTime())).toEqual({ kind: "retry", reason: "write_indeterminate" });
  });
});

const anEvent = (changes: Partial<UnsignedEvent> = {}): UnsignedEvent => ({
  kind: "event",
  mode: "live",
  received_at: isoTime(ledger.nowMs),
  reference: `U-${randomUUID()}`,
  status: "success",
  amount_kobo: koboFromNaira(500),
  type: "data",
  ...changes,
});
const vouchedFor = async (event: UnsignedEvent): Promise<EventMessage> => ({
  ...event,
  mac: eventMac(await keyedHashes(), event),
});
/** An order of the sandbox that the upstream calls so. */
const anOrderCalled = (upstreamReference: string): Promise<Transaction> =>
  anOrder({ upstream_reference: upstreamReference });
const aLiveOrderCalled = async (upstreamReference: string): Promise<Transaction> => {
  const accountId = await ledger.aWallet(500);
  return anOrder({ mode: "live", account_id: accountId, upstream_reference: upstreamReference });
};

describe("an event about a known reference", () => {
  test("of a sandbox order is about nothing that is live", async () => {
    const event = anEvent();
    const transaction = await anOrderCalled(event.reference);
    expect(await apply(event)).toEqual({ kind: "done", outcome: "no_candidate" });
    expect(await stands(transaction)).toBe("processing");
  });

  test("that two orders bear is left to the operator, aloud", async () => {
    const said = vi.spyOn(console, "log").mockImplementation(() => undefined);
    const event = anEvent();
    const transactions = [await anOrderCalled(event.reference), await anOrderCalled(event.reference)];
    expect(await apply(event)).toEqual({ kind: "done", outcome: "several_candidates" });
    for (const row of transactions) expect(await stands(row)).toBe("processing");
    expect(said.mock.calls.flat().map(String).join()).toContain(event.reference);
  });

  test.each([
    ["success", undefined],
    ["failed", { code: "delivery_failed" }],
  ] as const)("that says %s is applied with all that it says, and nothing is said aloud", async (status, failure) => {
    const said = vi.spyOn(console, "log").mockImplementation(() => undefined);
    const event = anEvent({ status });
    const row = await aLiveOrderCalled(event.reference);
    expect(await apply(await vouchedFor(event))).toEqual({ kind: "done", outcome: "applied" });
    const settled = await readTransaction(ledger, row.pk);
    expect(settled).toMatchObject({ status, upstream_reference: event.reference, upstream_amount_kobo: 50_000 });
    expect(settled?.failure).toEqual(failure);
    expect(said).not.toHaveBeenCalled();
  });

  test("that says success needs nobody to vouch for it", async () => {
    const event = anEvent();
    await aLiveOrderCalled(event.reference);
    expect(await apply(event)).toEqual({ kind: "done", outcome: "applied" });
  });

  test("whose write is not known to have happened comes again", async () => {
    const event = anEvent();
    await aLiveOrderCalled(event.reference);
    ledger.proxy.fault = (call) => (isSettling(call) ? "conflict" : undefined);
    expect(await apply(event, noTime())).toEqual({ kind: "retry", reason: "write_indeterminate" });
  });
});

describe("an event about a reference never seen", () => {
  test.each([
    [0, 5],
    [4_500, 1],
    [4_999, 1],
    [5_000, 25],
    [29_999, 1],
    [30_000, 150],
    [179_999, 1],
  ])("at the age of %i ms is looked at again in %i s", async (ageMs, afterS) => {
    const event = anEvent();
    ledger.nowMs += ageMs;
    expect(await apply(event)).toEqual({ kind: "retry", reason: "reference_unknown", afterS });
  });
});

describe("an event that is kept for the operator", () => {
  const REASON = "no_candidate";
  const kept = async (reference: string) =>
    (await listEvents(ledger, "0000")).filter((event) => event.reference === reference);

  test("has what it says, why it is kept and what it is about", async () => {
    const event = anEvent({ phone: { hmac: "h", masked: "0803****567" } });
    await recordEvent(ledger, event, REASON, "transaction#1");
    const [row, ...others] = await kept(event.reference);
    expect(others).toEqual([]);
    expect(row).toEqual({
      pk: row?.pk,
      owner: "events",
      reason: REASON,
      state: "open",
      reference: event.reference,
      says: "success",
      type: "data",
      amount_kobo: 50_000,
      phone_masked: "0803****567",
      transaction: "transaction#1",
      created_at: isoTime(NOON_MS),
    });
  });

  test("without an amount, a type, a phone number or a transaction has none", async () => {
    const { amount_kobo: _amount, type: _type, ...event } = anEvent();
    await recordEvent(ledger, event, REASON);
    const [row] = await kept(event.reference);
    expect(new Set(Object.keys(row ?? {}))).toEqual(
      new Set(["pk", "owner", "reason", "state", "reference", "says", "created_at"]),
    );
  });

  test("is one however often it came, and stays as the operator left it", async () => {
    const event = anEvent();
    await recordEvent(ledger, event, REASON);
    await recordEvent(ledger, { ...event, received_at: isoTime(NOON_MS + 1_000) }, "several_candidates");
    expect(await kept(event.reference)).toMatchObject([{ reason: REASON }]);
  });

  test("is another where it says something else", async () => {
    const event = anEvent({ phone: { hmac: "one", masked: "0803****567" } });
    const { amount_kobo: _amount, phone: _phone, ...bare } = event;
    const events: readonly EventMessage[] = [
      event,
      bare,
      { ...event, status: "failed" },
      { ...event, type: "airtime" },
      { ...event, type: undefined },
      { ...event, amount_kobo: koboFromNaira(501) },
      { ...event, phone: { hmac: "other", masked: "0803****567" } },
    ];
    for (const one of events) await recordEvent(ledger, one, REASON);
    expect(await kept(event.reference)).toHaveLength(events.length);
  });

  test("is found by the name that the operator reads", async () => {
    const event = anEvent();
    await recordEvent(ledger, event, REASON);
    const [row] = await kept(event.reference);
    const id = row ? storedEventId(row) : "";
    const reads: string[] = [];
    ledger.proxy.fault = ({ operation, body }) => void (operation === "GetItem" && reads.push(body));
    expect(id).toMatch(/^event_[\w-]{32}$/);
    expect(await findEvent(ledger, id)).toEqual(row);
    expect(await findEvent(ledger, `other_${id.slice("event_".length)}`)).toBeUndefined();
    expect(await findEvent(ledger, "event_0")).toBeUndefined();
    expect(reads).toHaveLength(2);
    for (const read of reads) expect(read).toContain('"ConsistentRead":true');
  });

  test("and that cannot be written is not lost: the message fails", async () => {
    ledger.proxy.fault = ({ operation }) => (operation === "PutItem" ? "never_arrives" : undefined);
    await expect(recordEvent(ledger, anEvent(), REASON)).rejects.toThrow();
  });
});

describe("an event that cannot be read", () => {
  const anUnreadable = (changes: Partial<UnreadableMessage> = {}): UnreadableMessage => ({
    kind: "unreadable_event",
    mode: "live",
    digest: randomBytes(32).toString("base64url"),
    reference: `U-${randomUUID()}`,
    problem: "status reversed",
    ...changes,
  });
  const kept = async ({ digest }: UnreadableMessage) => findEvent(ledger, `event_${digest.slice(0, 32)}`);

  test("is kept once, with its problem and its order, and raises an alarm", async () => {
    const message = anUnreadable();
    const transaction = await anOrderCalled(message.reference ?? "");
    const said = vi.spyOn(console, "log").mockImplementation(() => undefined);
    onTestFinished(() => said.mockRestore());
    for (let copy = 0; copy < 2; copy += 1) {
      expect(await apply(message)).toEqual({ kind: "done", outcome: "unreadable" });
    }
    const lines = said.mock.calls.map(([line]) => JSON.parse(String(line)));
    expect(lines[0]).toMatchObject({
      event: "upstream_event.escalated",
      Alarms: 1,
      reason: "unreadable",
      problem: "status reversed",
      upstream_reference: message.reference,
      transaction: referenceOf(transaction),
    });
    said.mockRestore();
    expect(await kept(message)).toEqual({
      pk: `event#${message.digest.slice(0, 32)}`,
      owner: "events",
      state: "open",
      reason: "unreadable",
      reference: message.reference,
      problem: "status reversed",
      transaction: transaction.pk,
      created_at: isoTime(NOON_MS),
    });
    expect(await stands(transaction)).toBe("processing");
  });

  test("under our own reference is kept with its order", async () => {
    const { transactionId } = await keyedHashes();
    const row = await anOrder({ pk: transactionPk(transactionId({ accountId: "any", mode: "test" })) });
    const message = anUnreadable({ reference: referenceOf(row) });
    await apply(message);
    expect(await kept(message)).toMatchObject({ transaction: row.pk });
  });

  test.each([undefined, "U-nobody"])("about the reference %s is kept without an order", async (reference) => {
    const message = anUnreadable({ reference });
    await apply(message);
    const row = await kept(message);
    expect(row).toMatchObject({ reason: "unreadable", state: "open" });
    expect(row?.transaction).toBeUndefined();
  });

  test("about a reference that two orders bear is kept without an order", async () => {
    const message = anUnreadable();
    for (let copy = 0; copy < 2; copy += 1) await anOrderCalled(message.reference ?? "");
    await apply(message);
    expect((await kept(message))?.transaction).toBeUndefined();
  });

  test("and that cannot be written is not lost: the message fails", async () => {
    ledger.proxy.fault = ({ operation }) => (operation === "PutItem" ? "never_arrives" : undefined);
    await expect(apply(anUnreadable())).rejects.toThrow();
  });
});

describe("an event about an order that nobody named", () => {
  const phoneNumber = "08039999999";
  const aGuess = async (changes: Partial<EventMessage> = {}) => {
    const { hashSubject } = await keyedHashes();
    return anEvent({ phone: { hmac: hashSubject("phone_number", phoneNumber), masked: "0803****999" }, ...changes });
  };
  /** Put as the sandbox's, so that it needs no wallet, but listed among what is open and live. */
  const anUnnamed = (createdAt: string): Promise<Transaction> =>
    anOrder({ phone_number: phoneNumber, open: "live", created_at: createdAt, updated_at: createdAt });

  test("is matched with one of exactly 30 minutes before, and then with no other", async () => {
    const event = await aGuess();
    const transaction = await anUnnamed(isoTime(NOON_MS - 30 * 60_000));
    ledger.nowMs += 180_000;
    expect(await apply(event)).toEqual({ kind: "done", outcome: "matched" });
    expect(await stands(transaction)).toBe("success");
    expect(await apply(await aGuess({ received_at: event.received_at }))).toMatchObject({ outcome: "no_candidate" });
  });

  test("does not fit an order without a phone number, and without one of its own fits none", async () => {
    const receivedAt = isoTime(NOON_MS);
    const nobody = await anOrder({ phone_number: undefined, open: "live", created_at: receivedAt });
    const somebody = await anOrder({ phone_number: phoneNumber, open: "live", created_at: receivedAt });
    ledger.nowMs += 180_000;
    expect(await apply(anEvent({ received_at: receivedAt }))).toMatchObject({ outcome: "no_candidate" });
    for (const row of [nobody, somebody]) {
      expect(await stands(row)).toBe("processing");
      await settleTransaction(ledger, row, { status: "success" }, deadlineIn(20_000));
    }
  });

  test("that gets a name in the same moment comes again a second later", async () => {
    const event = await aGuess();
    const row = await anUnnamed(isoTime(NOON_MS));
    ledger.nowMs += 180_000;
    ledger.proxy.fault = ({ operation }) => (operation === "TransactWriteItems" ? "conflict" : undefined);
    const result = apply(event, noTime());
    expect(await result).toEqual({ kind: "retry", reason: "candidate_changed", afterS: 1 });
    ledger.proxy.fault = () => undefined;
    await settleTransaction(ledger, row, { status: "success" }, deadlineIn(20_000));
  });

  test.each([
    ["by a copy of it, which the index does not show yet", "copy"],
    ["by our own verdict", "settlement"],
  ])("whose order got its name just now %s, ends no other", async (_name, by) => {
    const event = await aGuess();
    const first = await anUnnamed(isoTime(NOON_MS));
    ledger.nowMs += 60_000;
    const second = await anUnnamed(isoTime(ledger.nowMs));
    const late = { ...event, received_at: isoTime(ledger.nowMs) };
    ledger.nowMs += 180_000;
    const settlement = { status: "success", upstream_reference: event.reference } as const;
    const nameFirst = () =>
      by === "copy" ? apply(event) : settleTransaction(ledger, first, settlement, deadlineIn(20_000));

    const db = emulatorClient(ledger.proxy.endpoint);
    db.middlewareStack.add(
      (next) => async (args) => {
        const index = z.object({ IndexName: z.string() }).safeParse(args.input).data?.IndexName;
        // The name was looked for and is nobody's; when open orders are listed next, only the second one is left.
        if (index === "by_open") await nameFirst();
        const answer = await next(args);
        if (index === "by_upstream_reference" && by === "copy") Object.assign(answer.output, { Items: [] });
        return answer;
      },
      { step: "initialize", priority: "high" },
    );
    const result = await applyOutcome({ ledger: { ...ledger, db }, keyedHashes })(late, deadlineIn(20_000));
    expect(result).toEqual({ kind: "retry", reason: "candidate_changed", afterS: 1 });
    expect([await stands(first), await stands(second)]).toEqual(["success", "processing"]);
    await settleTransaction(ledger, second, { status: "success" }, deadlineIn(20_000));
  });
});

describe("an operator's decision", () => {
  const decision = { by: "ada", why: "ticket 88" };
  const later = (): void => {
    ledger.nowMs += 3_600_000;
  };
  /** Its writes that came, of which the first `count` meet the fault. */
  const firstDecisions = (count: number, fault: Fault): { readonly writes: number } => {
    const seen = { writes: 0 };
    ledger.proxy.fault = ({ operation }) => {
      if (operation !== "TransactWriteItems") return undefined;
      seen.writes += 1;
      return seen.writes <= count ? fault : undefined;
    };
    return seen;
  };

  test("that meets a conflict is made in the next round", async () => {
    const transaction = await anOrder();
    later();
    const seen = firstDecisions(1, "conflict");
    await resolveTransaction(ledger, transaction, "failed", decision);
    expect(seen.writes).toBe(2);
    expect(await stands(transaction)).toBe("failed");
  });

  test.each([
    ["nothing but conflicts for 10 s is given up", () => ledger.neverFree(), 3],
    ["no answer is not made again: it may have been made", () => firstDecisions(99, "never_arrives"), 2],
  ] as const)("that meets %s", async (_name, meet, writes) => {
    const row = await anOrder();
    later();
    const seen = meet();
    await expect(resolveTransaction(ledger, row, "failed", decision)).rejects.not.toBeInstanceOf(OperatorError);
    expect(seen.writes).toBe(writes);
    expect(await stands(row)).toBe("processing");
  });
});
