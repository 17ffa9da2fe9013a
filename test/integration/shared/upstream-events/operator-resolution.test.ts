import { randomBytes, randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findAccount } from "../../../../shared/access/account-store.ts";
import { changeWhitelist, createAccount, createKey, revokeKey, rotateKey } from "../../../../shared/access/accounts.ts";
import { keyHash } from "../../../../shared/access/api-key.ts";
import { findKey } from "../../../../shared/access/key-store.ts";
import { auditEntry, readAudit, recordAudit } from "../../../../shared/ledger/audit.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import type { Ledger } from "../../../../shared/ledger/ledger.ts";
import { adjustWallet, fundWallet } from "../../../../shared/ledger/ledger-entry.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import { transactionPk } from "../../../../shared/ledger/schema.ts";
import { settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { readStatement } from "../../../../shared/ledger/statement.ts";
import { referenceOf, type Transaction } from "../../../../shared/ledger/transaction.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import type { EventMessage } from "../../../../shared/orders/outcome-queue.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { koboFromNaira, nairaFromKobo } from "../../../../shared/platform/money.ts";
import { OperatorError } from "../../../../shared/platform/operator-error.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { reconcileWallet } from "../../../../shared/reconciliation/reconcile-wallet.ts";
import {
  discardEvent,
  matchEvent,
  resolveTransaction,
} from "../../../../shared/upstream-events/operator-resolution.ts";
import {
  findEvent,
  listEvents,
  type ReadableEvent,
  recordEvent,
  recordUnreadable,
  storedEventId,
} from "../../../../shared/upstream-events/stored-event.ts";
import { anOpenOrder } from "../../../builders/event-message.ts";
import { type FaultyLedger, openFaultyLedger, TRIES } from "../../../builders/faulty-ledger.ts";
import { freshTables } from "../../../builders/tables.ts";
import { aTransaction } from "../../../builders/transaction.ts";

/**
 * Goal: an operator's decision takes effect once, together with its audit entry, or not at all. The clock is the
 * test's.
 */
const NOON_MS = Date.parse("2026-11-21T12:00:00.000Z");
const decision = { by: "ada", why: "ticket 88" };

let tables: Awaited<ReturnType<typeof freshTables>>;
beforeAll(async () => {
  tables = await freshTables();
});

const ledgerAt = (nowMs = NOON_MS): Ledger => ({ db: tables.db, table: tables.ledgerTable, clock: () => nowMs });
const storeAt = (nowMs = NOON_MS) => ({ ...tables, clock: () => nowMs });

/** An account of 1,000 NGN. */
const anAccount = async () => {
  const { account_id: accountId } = await createAccount(storeAt(), { name: "test", whitelist: [] });
  await fundWallet(ledgerAt(NOON_MS - 3_600_000), {
    accountId,
    fundingId: `first-${accountId}`,
    amountKobo: koboFromNaira(1_000),
  });
  const balance = async () => nairaFromKobo((await readWallet(ledgerAt(), accountId)).balance_kobo);
  const isProved = async () => (await reconcileWallet(ledgerAt(), accountId))?.difference_kobo === 0;
  return { accountId, balance, isProved };
};

/** An order of 500 NGN, open for a minute. */
const anOrder = async (changes: Partial<Transaction> = {}) => {
  const account = await anAccount();
  const transaction = await openFor(account.accountId, changes);
  return { ...account, transaction, stored: () => readTransaction(ledgerAt(), transaction.pk) };
};

const openFor = async (accountId: string, changes: Partial<Transaction> = {}): Promise<Transaction> => {
  const at = isoTime(NOON_MS - 60_000);
  const transaction = aTransaction({
    pk: transactionPk(randomUUID()),
    owner: `${accountId}#${changes.mode ?? "live"}`,
    account_id: accountId,
    attempt: randomUUID(),
    created_at: at,
    updated_at: at,
    ...changes,
  });
  expect(await openTransaction(ledgerAt(), transaction, [], deadlineIn(29_000))).toEqual({ kind: "opened" });
  return transaction;
};

/** A stored event. */
const anEvent = async (
  status: "success" | "failed",
  reference = `U-${randomUUID()}`,
  fields: Partial<Pick<EventMessage, "type" | "amount_kobo" | "phone">> = { amount_kobo: koboFromNaira(500) },
): Promise<ReadableEvent> => {
  const receivedAt = isoTime(NOON_MS);
  const event = { kind: "event", mode: "live", received_at: receivedAt, status, type: "data" } as const;
  await recordEvent(ledgerAt(), { ...event, reference, ...fields }, "no_candidate");
  const stored = (await listEvents(ledgerAt(), "0000")).find((found) => found.reference === reference);
  if (stored === undefined || stored.reason === "unreadable") throw new Error("The event was not stored");
  return stored;
};

const refusals = (results: readonly PromiseSettledResult<unknown>[]): unknown[] =>
  results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));

describe("resolveTransaction", () => {
  test("of 10 concurrent resolutions, 5 as success and 5 as failed, one takes effect, and balance and audit agree with it", async () => {
    const order = await anOrder();
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        resolveTransaction(ledgerAt(), order.transaction, index % 2 === 0 ? "success" : "failed", decision),
      ),
    );
    expect(refusals(results)).toHaveLength(9);
    for (const refusal of refusals(results)) expect(refusal).toBeInstanceOf(OperatorError);
    const stored = await order.stored();
    expect(await order.balance()).toBe(stored?.status === "failed" ? 1_000 : 500);
    expect(await readAudit(ledgerAt(), order.transaction.pk)).toMatchObject([
      { by: "ada", why: "ticket 88", action: "transactions resolve", details: { status: stored?.status } },
    ]);
    expect(await order.isProved()).toBe(true);
  });

  test("a resolution as failed refunds the order, as success it does not, and both close it", async () => {
    for (const [status, balance] of [
      ["failed", 1_000],
      ["success", 500],
    ] as const) {
      const order = await anOrder();
      await resolveTransaction(ledgerAt(), order.transaction, status, decision);
      expect(await order.balance()).toBe(balance);
      expect(await order.stored()).toMatchObject({ status });
      expect(await order.stored()).not.toHaveProperty("open");
    }
  });

  test("a resolution of an order that was settled meanwhile is refused and leaves no audit entry", async () => {
    const order = await anOrder();
    await settleTransaction(ledgerAt(), order.transaction, { status: "success" }, deadlineIn(9_000));
    await expect(resolveTransaction(ledgerAt(), order.transaction, "failed", decision)).rejects.toThrow(
      /is success since/,
    );
    expect(await order.balance()).toBe(500);
    expect(await readAudit(ledgerAt(), order.transaction.pk)).toEqual([]);
  });

  test("an order whose request may be in flight is not resolved at 31 s, and is at 32 s", async () => {
    const at = isoTime(NOON_MS);
    const order = await anOrder({ created_at: at, updated_at: at });
    const resolve = (ageMs: number) =>
      resolveTransaction(ledgerAt(NOON_MS + ageMs), order.transaction, "failed", decision);
    await expect(resolve(31_000)).rejects.toThrow(/in flight: try again in 1 s/);
    await resolve(32_000);
    expect(await order.balance()).toBe(1_000);
  });

  test("an order is resolved at once if its request has recorded an outcome", async () => {
    const at = isoTime(NOON_MS);
    const order = await anOrder({ created_at: at, updated_at: isoTime(NOON_MS + 500) });
    await resolveTransaction(ledgerAt(NOON_MS + 1_000), order.transaction, "failed", decision);
    expect(await order.stored()).toMatchObject({ status: "failed" });
  });

  test("a check without a result can only be resolved as failed", async () => {
    const order = await anOrder({ type: "nin_verification" });
    await expect(resolveTransaction(ledgerAt(), order.transaction, "success", decision)).rejects.toThrow(OperatorError);
    await resolveTransaction(ledgerAt(), order.transaction, "failed", decision);
    expect(await order.balance()).toBe(1_000);
  });

  test("a resolution of a sandbox order changes no wallet", async () => {
    const order = await anOrder({ mode: "test" });
    await resolveTransaction(ledgerAt(), order.transaction, "failed", decision);
    expect(await order.stored()).toMatchObject({ status: "failed" });
    expect(await order.balance()).toBe(1_000);
  });
});

describe("matchEvent", () => {
  test("a match settles the order with the event's status, reference and amount, and closes the event", async () => {
    const [order, event] = [await anOrder(), await anEvent("success")];
    await matchEvent(ledgerAt(), event, order.transaction, decision);
    expect(await order.stored()).toMatchObject({
      status: "success",
      upstream_reference: event.reference,
      upstream_amount_kobo: 500_00,
    });
    const closed = await findEvent(ledgerAt(), `event_${event.pk.slice("event#".length)}`);
    expect(closed).toMatchObject({ state: "matched", transaction: order.transaction.pk });
    expect(await readAudit(ledgerAt(), order.transaction.pk)).toMatchObject([{ action: "events match", by: "ada" }]);
  });

  test("a match with a failed refunds the order", async () => {
    const [order, event] = [await anOrder(), await anEvent("failed")];
    await matchEvent(ledgerAt(), event, order.transaction, decision);
    expect(await order.balance()).toBe(1_000);
    expect(await order.isProved()).toBe(true);
  });

  test("an event is matched with the order of its upstream reference, and refused for one with another", async () => {
    const [own, event] = [await anOrder({ upstream_reference: "U-own" }), await anEvent("failed", "U-own")];
    const other = await anOrder({ upstream_reference: "U-other" });
    await expect(matchEvent(ledgerAt(), event, other.transaction, decision)).rejects.toThrow(/calls .* U-other/);
    expect(await other.stored()).toMatchObject({ status: "processing" });
    await matchEvent(ledgerAt(), event, own.transaction, decision);
    expect(await own.stored()).toMatchObject({ status: "failed" });
  });

  test("a match of an event under our own reference keeps the upstream reference", async () => {
    for (const upstreamReference of [undefined, "U-known"]) {
      const order = await anOrder({
        pk: transactionPk(`0${randomUUID().replaceAll("-", "").slice(0, 25).toUpperCase()}`),
        ...(upstreamReference !== undefined && { upstream_reference: upstreamReference }),
      });
      const event = await anEvent("failed", referenceOf(order.transaction), { amount_kobo: koboFromNaira(490) });
      await matchEvent(ledgerAt(), event, order.transaction, decision);
      const settled = await order.stored();
      expect(settled).toMatchObject({ status: "failed", upstream_amount_kobo: 490_00 });
      expect(settled?.upstream_reference).toBe(upstreamReference);
    }
  });

  test("an order that was settled or got another upstream reference since it was read is not matched, and the event stays open", async () => {
    const event = await anEvent("success");
    const settled = await anOrder();
    await settleTransaction(ledgerAt(), settled.transaction, { status: "success" }, deadlineIn(9_000));
    await expect(matchEvent(ledgerAt(), event, settled.transaction, decision)).rejects.toThrow(/is success since/);
    const other = await anOrder();
    const settlement = { status: "processing", upstream_reference: "U-late" } as const;
    await settleTransaction(ledgerAt(), other.transaction, settlement, deadlineIn(9_000));
    await expect(matchEvent(ledgerAt(), event, other.transaction, decision)).rejects.toThrow(/U-late by now/);
    expect(await findEvent(ledgerAt(), `event_${event.pk.slice("event#".length)}`)).toMatchObject({ state: "open" });
  });

  test("an event that differs from the order is refused with the differences, until the operator accepts them", async () => {
    const order = await anOrder();
    const phone = { hmac: "another", masked: "0805****555" };
    const event = await anEvent("failed", undefined, { type: "airtime", amount_kobo: koboFromNaira(777), phone });
    const differences = [
      { field: "type", event: "airtime", transaction: "data" },
      { field: "amount", event: "777.00 NGN", transaction: "500.00 NGN" },
      { field: "phone number", event: "0805****555", transaction: "08031234567" },
    ];
    await expect(matchEvent(ledgerAt(), event, order.transaction, decision)).rejects.toThrow(
      /type \(airtime, not data\), amount \(777.00 NGN, not 500.00 NGN\), phone number \(0805\*{4}555, not 08031234567\)/,
    );
    expect(await order.stored()).toMatchObject({ status: "processing" });
    expect(await order.balance()).toBe(500);
    const accepted = await matchEvent(ledgerAt(), event, order.transaction, decision, { acceptsDifferences: true });
    expect(accepted).toEqual(differences);
    expect(await order.stored()).toMatchObject({ status: "failed" });
    expect(await readAudit(ledgerAt(), order.transaction.pk)).toMatchObject([
      { action: "events match", details: { differs_in: "type,amount,phone number" } },
    ]);
  });

  test.for([
    { fields: {}, isSame: true },
    { fields: { phone: { hmac: "", masked: "0803****567" } }, isSame: true },
    { fields: { phone: { hmac: "", masked: "0803****568" } }, isSame: false },
    { fields: { phone: { hmac: "", masked: "0805****567" } }, isSame: false },
    { phoneNumber: "*********67", fields: { phone: { hmac: "", masked: "0803****567" } }, isSame: true },
    { phoneNumber: "*********68", fields: { phone: { hmac: "", masked: "0803****567" } }, isSame: false },
    { fields: { phone: { hmac: "", masked: "*********67" } }, isSame: true },
    { fields: { phone: { hmac: "", masked: "*********68" } }, isSame: false },
    { fields: { amount_kobo: koboFromNaira(490) }, isSame: false },
    { fields: { type: "airtime" }, isSame: false },
  ])(
    "only fields that both have, and digits that both show, are compared: %j",
    async ({ phoneNumber, fields, isSame }) => {
      const order = await anOrder(phoneNumber === undefined ? {} : { phone_number: phoneNumber });
      const event = await anEvent("success", undefined, fields);
      const matched = matchEvent(ledgerAt(), event, order.transaction, decision);
      await (isSame ? expect(matched).resolves.toEqual([]) : expect(matched).rejects.toThrow(/--although-different/));
    },
  );

  test("of two concurrent matches of one event with two orders one takes effect", async () => {
    const event = await anEvent("failed");
    const orders = [await anOrder(), await anOrder()];
    const results = await Promise.allSettled(
      orders.map(({ transaction }) => matchEvent(ledgerAt(), event, transaction, decision)),
    );
    expect(refusals(results)).toEqual([expect.any(OperatorError)]);
    const statuses = await Promise.all(orders.map(async ({ stored }) => (await stored())?.status));
    expect(statuses.toSorted()).toEqual(["failed", "processing"]);
  });

  test("an unreadable event cannot be matched; it can be discarded, and the audit entry has its problem", async () => {
    const order = await anOrder();
    const digest = randomBytes(32).toString("base64url");
    const message = { kind: "unreadable_event", mode: "live", digest, problem: "status reversed" } as const;
    await recordUnreadable(ledgerAt(), message, order.transaction.pk);
    const event = await findEvent(ledgerAt(), `event_${digest.slice(0, 32)}`);
    if (event === undefined) throw new Error("The event was not stored");
    await expect(matchEvent(ledgerAt(), event, order.transaction, decision)).rejects.toThrow(
      /cannot be read \(status reversed\): settle its transaction with transactions resolve/,
    );
    expect(await order.stored()).toMatchObject({ status: "processing" });
    await discardEvent(ledgerAt(), event, decision);
    expect(await findEvent(ledgerAt(), `event_${digest.slice(0, 32)}`)).toMatchObject({ state: "discarded" });
    expect(await readAudit(ledgerAt(), order.transaction.pk)).toMatchObject([
      { action: "events discard", details: { says: "status reversed" } },
    ]);
  });

  test("a discarded event cannot be matched or discarded, also by an operator who read it before", async () => {
    const [order, event] = [await anOrder(), await anEvent("success")];
    await discardEvent(ledgerAt(), event, decision);
    await expect(matchEvent(ledgerAt(), event, order.transaction, decision)).rejects.toThrow(OperatorError);
    await expect(discardEvent(ledgerAt(), event, decision)).rejects.toThrow(OperatorError);
    expect(await order.stored()).toMatchObject({ status: "processing" });
  });

  test("an event is not matched with a sandbox order", async () => {
    const [order, event] = [await anOrder({ mode: "test" }), await anEvent("success")];
    await expect(matchEvent(ledgerAt(), event, order.transaction, decision)).rejects.toThrow(/sandbox/);
  });
});

describe("every decision", () => {
  test("an event is not matched while the order's request may be in flight", async () => {
    const order = await anOrder({ created_at: isoTime(NOON_MS), updated_at: isoTime(NOON_MS) });
    const event = await anEvent("success");
    await expect(matchEvent(ledgerAt(NOON_MS + 31_999), event, order.transaction, decision)).rejects.toThrow("in 1 s");
    await matchEvent(ledgerAt(NOON_MS + 32_000), event, order.transaction, decision);
    expect(await order.stored()).toMatchObject({ status: "success" });
  });

  test("a refusal says that the event is closed, or which reference it has", async () => {
    const event = await anEvent("success");
    await discardEvent(ledgerAt(), event, decision);
    const closed = { ...event, state: "discarded" } as const;
    const order = await anOrder();
    await expect(discardEvent(ledgerAt(), closed, decision)).rejects.toThrow("is discarded already");
    await expect(matchEvent(ledgerAt(), closed, order.transaction, decision)).rejects.toThrow("is discarded already");
    const transaction = { ...order.transaction, upstream_reference: "U-other" };
    const other = await anEvent("success");
    await expect(matchEvent(ledgerAt(), other, transaction, decision)).rejects.toThrow(`about ${other.reference}`);
  });

  test("a decision about an event has an audit entry on its transaction, or on the event if it has none", async () => {
    const [discarded, matched] = [await anEvent("failed"), await anEvent("success")];
    const order = await anOrder();
    await discardEvent(ledgerAt(), discarded, decision);
    await matchEvent(ledgerAt(), matched, order.transaction, decision);
    expect(await readAudit(ledgerAt(), discarded.pk)).toMatchObject([
      { by: "ada", action: "events discard", details: { event: storedEventId(discarded), says: "failed" } },
    ]);
    expect(await readAudit(ledgerAt(), order.transaction.pk)).toMatchObject([
      { by: "ada", action: "events match", details: { event: storedEventId(matched), says: "success" } },
    ]);
    const withTransaction = { ...(await anEvent("failed")), transaction: order.transaction.pk };
    await discardEvent(ledgerAt(), withTransaction, decision);
    expect(await readAudit(ledgerAt(), order.transaction.pk)).toHaveLength(2);
  });

  test("a resolution as failed records the failure's code, and as success none", async () => {
    const failed = await anOrder({ type: "airtime" });
    await resolveTransaction(ledgerAt(), failed.transaction, "failed", decision);
    expect(await failed.stored()).toMatchObject({ failure: { code: "delivery_failed" } });
    const delivered = await anOrder({ type: "airtime" });
    await resolveTransaction(ledgerAt(), delivered.transaction, "success", decision);
    expect(await delivered.stored()).not.toHaveProperty("failure");
  });
});

describe("with a faulty table", () => {
  let ledger: FaultyLedger;
  beforeAll(async () => {
    ledger = await openFaultyLedger();
  });
  beforeEach(() => ledger.reset());
  afterEach(() => ledger.reset());
  afterAll(() => ledger.proxy.stop());

  /** An order whose request has certainly ended. */
  const anOldOrder = async () => {
    const order = await anOpenOrder(ledger);
    ledger.nowMs += 3_600_000;
    return order;
  };

  test("a resolution that meets a conflict is retried", async () => {
    const order = await anOldOrder();
    const seen = ledger.firstWrites(1, "conflict");
    await resolveTransaction(ledger, order.transaction, "failed", decision);
    expect(seen.writes).toBe(2);
    expect((await order.stored())?.status).toBe("failed");
  });

  test("a resolution that meets conflicts for 10 s fails", async () => {
    const order = await anOldOrder();
    const seen = ledger.neverFree();
    await expect(resolveTransaction(ledger, order.transaction, "failed", decision)).rejects.not.toBeInstanceOf(
      OperatorError,
    );
    expect(seen.writes).toBe(3);
    expect((await order.stored())?.status).toBe("processing");
  });

  test("a resolution without an answer fails and is not retried, because it may have been written", async () => {
    const order = await anOldOrder();
    const seen = ledger.firstWrites(99, "never_arrives");
    await expect(resolveTransaction(ledger, order.transaction, "failed", decision)).rejects.not.toBeInstanceOf(
      OperatorError,
    );
    expect(seen.writes).toBe(TRIES);
    expect((await order.stored())?.status).toBe("processing");
  });
});

describe("an entry of a wallet", () => {
  const adjust = (accountId: string, naira: number, adjustmentId: string) =>
    adjustWallet(ledgerAt(), { accountId, adjustmentId, amount_kobo: naira * 100, why: "ticket 88" });

  test("of 10 with one id at once moves the balance once; another amount under it is told apart", async () => {
    const { accountId, balance, isProved } = await anAccount();
    const bookings = await Promise.all(Array.from({ length: 10 }, () => adjust(accountId, -300, "case-1")));
    expect(bookings.filter(({ kind }) => kind === "recorded")).toHaveLength(1);
    expect(await adjust(accountId, -301, "case-1")).toMatchObject({
      kind: "already_recorded",
      entry: { amount_kobo: -300_00 },
    });
    expect(await balance()).toBe(700);
    expect(await isProved()).toBe(true);
  });

  const fund = (accountId: string, fundingId: string, naira = 300) =>
    fundWallet(ledgerAt(), { accountId, fundingId, amountKobo: koboFromNaira(naira) });

  test("a bank transfer is credited to one account only, by 10 operators at once as by one after the other", async () => {
    const accounts = [await anAccount(), await anAccount()];
    const id = `bank-${randomUUID()}`;
    const bookings = await Promise.all(
      Array.from({ length: 10 }, (_, index) => fund(accounts[index % 2]?.accountId ?? "", id)),
    );
    expect(bookings.filter(({ kind }) => kind === "recorded")).toHaveLength(1);
    const balances = await Promise.all(accounts.map(({ balance }) => balance()));
    expect(balances.toSorted((one, other) => one - other)).toEqual([1_000, 1_300]);
    const [credited, other] = balances[0] === 1_300 ? accounts : accounts.toReversed();
    expect(await fund(other?.accountId ?? "", id)).toMatchObject({
      kind: "already_recorded",
      entry: { account_id: credited?.accountId, amount_kobo: 300_00, created_at: isoTime(NOON_MS) },
    });
    for (const { isProved } of accounts) expect(await isProved()).toBe(true);
  });

  test("a bank transfer whose reference is typed in another case is the same transfer", async () => {
    const { accountId, balance } = await anAccount();
    const id = `gtb-${randomUUID()}`;
    expect(await fund(accountId, id)).toEqual({ kind: "recorded" });
    expect(await fund(accountId, id.toUpperCase())).toMatchObject({
      kind: "already_recorded",
      entry: { entry_id: id },
    });
    expect(await balance()).toBe(1_300);
  });

  test("a funding that an earlier release booked under its account's key is not booked again, for no account", async () => {
    const [first, other] = [await anAccount(), await anAccount()];
    const id = `bank-${randomUUID()}`;
    const entry = { kind: "funding", account_id: first.accountId, entry_id: id, amount_kobo: 300_00 } as const;
    const former = {
      ...entry,
      pk: `funding#${first.accountId}#${id}`,
      owner: `${first.accountId}#entries`,
      created_at: isoTime(NOON_MS - 60_000),
    };
    await tables.db.send(new PutCommand({ TableName: tables.ledgerTable, Item: former }));
    for (const { accountId } of [first, other]) {
      expect(await fund(accountId, id)).toMatchObject({ kind: "already_recorded", entry: former });
    }
    expect(await Promise.all([first.balance(), other.balance()])).toEqual([1_000, 1_000]);
  });

  test("an adjustment's id is its account's own: the same id of another account is another adjustment", async () => {
    const [one, other] = [await anAccount(), await anAccount()];
    expect(await adjust(one.accountId, 50, "case-1")).toEqual({ kind: "recorded" });
    expect(await adjust(other.accountId, 50, "case-1")).toEqual({ kind: "recorded" });
  });

  test("never makes a balance negative: of 3 adjustments of -600 at once 1 is booked", async () => {
    const { accountId, balance } = await anAccount();
    const bookings = await Promise.all(["a", "b", "c"].map((id) => adjust(accountId, -600, id)));
    expect(bookings.map(({ kind }) => kind).toSorted()).toEqual([
      "insufficient_balance",
      "insufficient_balance",
      "recorded",
    ]);
    expect(await balance()).toBe(400);
  });

  test("stands in the statement in its place, and the sum after the last line is the balance", async () => {
    const { accountId, balance } = await anAccount();
    const [bought, failed] = [await openFor(accountId), await openFor(accountId)];
    await settleTransaction(ledgerAt(), bought, { status: "success" }, deadlineIn(9_000));
    await resolveTransaction(ledgerAt(), failed, "failed", decision);
    await adjust(accountId, 50, "case-1");
    const statement = await readStatement(ledgerAt(), accountId, { from: "0000", to: "9999" });
    const lines = statement.lines.map(({ kind, status, effect_kobo }) => [kind, status, effect_kobo]);
    expect(lines.slice(1, 3)).toEqual(
      expect.arrayContaining([
        ["data", "failed", 0],
        ["data", "success", -500_00],
      ]),
    );
    expect([lines[0], lines[3]]).toEqual([
      ["funding", "booked", 1_000_00],
      ["adjustment", "booked", 50_00],
    ]);
    expect(statement).toMatchObject({ opening_kobo: 0, closing_kobo: 550_00 });
    expect(await balance()).toBe(550);

    const later = await readStatement(ledgerAt(), accountId, { from: isoTime(NOON_MS), to: "9999" });
    expect(later).toMatchObject({ opening_kobo: 500_00, closing_kobo: 550_00, lines: [{ kind: "adjustment" }] });
  });
});

describe("a rotated key", () => {
  const HOUR_MS = 3_600_000;
  const aRotation = async (overlapMs: number) => {
    const { account_id: accountId } = await createAccount(storeAt(), { name: "test", whitelist: [] });
    const old = await createKey(storeAt(), accountId, { mode: "live", permissions: ["vtu"] });
    const fresh = await rotateKey(storeAt(), accountId, old.keyId, overlapMs);
    return { accountId, old, fresh };
  };
  const item = ({ key }: { readonly key: string }) => findKey(tables.db, tables.accessTable, keyHash(key));

  test("ends an overlap later, and the new one has its mode and its permissions", async () => {
    const { old, fresh } = await aRotation(HOUR_MS);
    expect(await item(old)).toMatchObject({ status: "active", expires_at: isoTime(NOON_MS + HOUR_MS) });
    expect(await item(fresh)).toMatchObject({ mode: "live", permissions: new Set(["vtu"]) });
    expect(await item(fresh)).not.toHaveProperty("expires_at");
  });

  test("can only end sooner by another rotation, and not at all once it has ended for a day", async () => {
    const { accountId, old } = await aRotation(HOUR_MS);
    await rotateKey(storeAt(), accountId, old.keyId, 24 * HOUR_MS);
    expect(await item(old)).toMatchObject({ expires_at: isoTime(NOON_MS + HOUR_MS) });
    await rotateKey(storeAt(), accountId, old.keyId, 0);
    expect(await item(old)).toMatchObject({ expires_at: isoTime(NOON_MS) });
    await expect(rotateKey(storeAt(NOON_MS + 25 * HOUR_MS), accountId, old.keyId, 0)).rejects.toThrow(/has ended/);
  });

  test("follows its account while it goes on, and can be revoked", async () => {
    const { accountId, old } = await aRotation(HOUR_MS);
    await changeWhitelist(storeAt(), accountId, () => ["203.0.113.7"]);
    expect((await item(old))?.whitelist?.size).toBe(1);
    expect(await item(old)).toMatchObject({ expires_at: isoTime(NOON_MS + HOUR_MS) });
    await revokeKey(storeAt(), accountId, old.keyId);
    expect(await item(old)).toMatchObject({ status: "revoked" });
  });

  test("by 5 operators at once gives 5 new keys, each of which the account knows", async () => {
    const { accountId, old } = await aRotation(HOUR_MS);
    const made = await Promise.all(
      Array.from({ length: 5 }, () => rotateKey(storeAt(), accountId, old.keyId, HOUR_MS)),
    );
    const known = new Set((await findAccount(storeAt(), accountId))?.keys.map(({ key_id }) => key_id));
    expect(made.filter(({ keyId }) => known.has(keyId))).toHaveLength(5);
  });
});

test("a change of an account has an audit entry; one without effect, or refused, has none", async () => {
  const { account_id } = await createAccount(storeAt(), { name: "test", whitelist: [] });
  const store = {
    ...storeAt(),
    audit: () => auditEntry({ subject: account_id, action: "ips allow", ...decision }, NOON_MS),
  };
  await changeWhitelist(store, account_id, () => ["203.0.113.7"]);
  await changeWhitelist(store, account_id, () => undefined);
  await expect(changeWhitelist(store, account_id, () => ["nonsense"])).rejects.toThrow(/no IP address/);
  expect(await readAudit(ledgerAt(), account_id)).toMatchObject([{ action: "ips allow", by: "ada", why: "ticket 88" }]);
});

test("an action outside the ledger has an audit entry of its own, without a reason if none was given", async () => {
  const subject = `catalog-${randomUUID()}`;
  await recordAudit(ledgerAt(), { subject, by: "ada", action: "catalog accept", details: { plans: 30 } });
  const [entry, ...others] = await readAudit(ledgerAt(), subject);
  expect(entry).toMatchObject({ by: "ada", action: "catalog accept", details: { plans: 30 } });
  expect(entry).not.toHaveProperty("why");
  expect(others).toEqual([]);
});
