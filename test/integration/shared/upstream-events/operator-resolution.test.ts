import { randomBytes, randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, test } from "vitest";
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
import { freshTables } from "../../../builders/tables.ts";
import { aTransactionRow } from "../../../builders/transaction.ts";

/** Goal: what an operator decides happens once, together with its record, and nothing happens where it cannot. The clock is the test's. */
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

/** One order of 500 NGN, open for a minute. */
const anOrder = async (changes: Partial<Transaction> = {}) => {
  const account = await anAccount();
  const transaction = await openFor(account.accountId, changes);
  return { ...account, transaction, stands: () => readTransaction(ledgerAt(), transaction.pk) };
};

const openFor = async (accountId: string, changes: Partial<Transaction> = {}): Promise<Transaction> => {
  const at = isoTime(NOON_MS - 60_000);
  const transaction = aTransactionRow({
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

/** An event that nobody could apply. */
const anEvent = async (
  says: "success" | "failed",
  reference = `U-${randomUUID()}`,
  stated: Partial<Pick<EventMessage, "type" | "amount_kobo" | "phone">> = { amount_kobo: koboFromNaira(500) },
): Promise<ReadableEvent> => {
  const receivedAt = isoTime(NOON_MS);
  const event = { kind: "event", mode: "live", received_at: receivedAt, status: says, type: "data" } as const;
  await recordEvent(ledgerAt(), { ...event, reference, ...stated }, "no_candidate");
  const row = (await listEvents(ledgerAt(), "0000")).find((found) => found.reference === reference);
  if (row === undefined || row.reason === "unreadable") throw new Error("The event was not kept");
  return row;
};

const refusals = (results: readonly PromiseSettledResult<unknown>[]): unknown[] =>
  results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));

describe("a resolution", () => {
  test("of 10 at once, 5 success and 5 failed, is 1; the balance and the record agree with it", async () => {
    const order = await anOrder();
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        resolveTransaction(ledgerAt(), order.transaction, index % 2 === 0 ? "success" : "failed", decision),
      ),
    );
    expect(refusals(results)).toHaveLength(9);
    for (const refusal of refusals(results)) expect(refusal).toBeInstanceOf(OperatorError);
    const stands = await order.stands();
    expect(await order.balance()).toBe(stands?.status === "failed" ? 1_000 : 500);
    expect(await readAudit(ledgerAt(), order.transaction.pk)).toMatchObject([
      { by: "ada", why: "ticket 88", action: "transactions resolve", details: { status: stands?.status } },
    ]);
    expect(await order.isProved()).toBe(true);
  });

  test("as failed gives 500 NGN back, as success keeps them; both are gone from the open ones", async () => {
    for (const [status, balance] of [
      ["failed", 1_000],
      ["success", 500],
    ] as const) {
      const order = await anOrder();
      await resolveTransaction(ledgerAt(), order.transaction, status, decision);
      expect(await order.balance()).toBe(balance);
      expect(await order.stands()).toMatchObject({ status });
      expect(await order.stands()).not.toHaveProperty("open");
    }
  });

  test("meets an end that came meanwhile: it is refused, and leaves no record", async () => {
    const order = await anOrder();
    await settleTransaction(ledgerAt(), order.transaction, { status: "success" }, deadlineIn(9_000));
    await expect(resolveTransaction(ledgerAt(), order.transaction, "failed", decision)).rejects.toThrow(
      /is success since/,
    );
    expect(await order.balance()).toBe(500);
    expect(await readAudit(ledgerAt(), order.transaction.pk)).toEqual([]);
  });

  test("waits until no request can be under way: refused at 31 s, taken at 32 s", async () => {
    const at = isoTime(NOON_MS);
    const order = await anOrder({ created_at: at, updated_at: at });
    const resolve = (ageMs: number) =>
      resolveTransaction(ledgerAt(NOON_MS + ageMs), order.transaction, "failed", decision);
    await expect(resolve(31_000)).rejects.toThrow(/in flight: try again in 1 s/);
    await resolve(32_000);
    expect(await order.balance()).toBe(1_000);
  });

  test("need not wait once the request has told what it learnt", async () => {
    const at = isoTime(NOON_MS);
    const order = await anOrder({ created_at: at, updated_at: isoTime(NOON_MS + 500) });
    await resolveTransaction(ledgerAt(NOON_MS + 1_000), order.transaction, "failed", decision);
    expect(await order.stands()).toMatchObject({ status: "failed" });
  });

  test("of a check whose result nobody got can only be failed", async () => {
    const order = await anOrder({ type: "nin_verification" });
    await expect(resolveTransaction(ledgerAt(), order.transaction, "success", decision)).rejects.toThrow(OperatorError);
    await resolveTransaction(ledgerAt(), order.transaction, "failed", decision);
    expect(await order.balance()).toBe(1_000);
  });

  test("of a sandbox order touches no wallet", async () => {
    const order = await anOrder({ mode: "test" });
    await resolveTransaction(ledgerAt(), order.transaction, "failed", decision);
    expect(await order.stands()).toMatchObject({ status: "failed" });
    expect(await order.balance()).toBe(1_000);
  });
});

describe("a match", () => {
  test("ends the order as the event says, with what the upstream calls it and charged, and closes the event", async () => {
    const [order, event] = [await anOrder(), await anEvent("success")];
    await matchEvent(ledgerAt(), event, order.transaction, decision);
    expect(await order.stands()).toMatchObject({
      status: "success",
      upstream_reference: event.reference,
      upstream_amount_kobo: 500_00,
    });
    const closed = await findEvent(ledgerAt(), `event_${event.pk.slice("event#".length)}`);
    expect(closed).toMatchObject({ state: "matched", transaction: order.transaction.pk });
    expect(await readAudit(ledgerAt(), order.transaction.pk)).toMatchObject([{ action: "events match", by: "ada" }]);
  });

  test("with a failure gives the money back", async () => {
    const [order, event] = [await anOrder(), await anEvent("failed")];
    await matchEvent(ledgerAt(), event, order.transaction, decision);
    expect(await order.balance()).toBe(1_000);
    expect(await order.isProved()).toBe(true);
  });

  test("with an order that bears the event's own reference is taken, with another's refused", async () => {
    const [named, event] = [await anOrder({ upstream_reference: "U-named" }), await anEvent("failed", "U-named")];
    const other = await anOrder({ upstream_reference: "U-other" });
    await expect(matchEvent(ledgerAt(), event, other.transaction, decision)).rejects.toThrow(/calls .* U-other/);
    expect(await other.stands()).toMatchObject({ status: "processing" });
    await matchEvent(ledgerAt(), event, named.transaction, decision);
    expect(await named.stands()).toMatchObject({ status: "failed" });
  });

  test("of an event under our own reference leaves the upstream's reference as it is", async () => {
    for (const upstream of [undefined, "U-known"]) {
      const order = await anOrder({
        pk: transactionPk(`0${randomUUID().replaceAll("-", "").slice(0, 25).toUpperCase()}`),
        ...(upstream !== undefined && { upstream_reference: upstream }),
      });
      const event = await anEvent("failed", referenceOf(order.transaction), { amount_kobo: koboFromNaira(490) });
      await matchEvent(ledgerAt(), event, order.transaction, decision);
      const ended = await order.stands();
      expect(ended).toMatchObject({ status: "failed", upstream_amount_kobo: 490_00 });
      expect(ended?.upstream_reference).toBe(upstream);
    }
  });

  test("with an order that has ended, or was named since it was read, is refused; the event stays open", async () => {
    const event = await anEvent("success");
    const ended = await anOrder();
    await settleTransaction(ledgerAt(), ended.transaction, { status: "success" }, deadlineIn(9_000));
    await expect(matchEvent(ledgerAt(), event, ended.transaction, decision)).rejects.toThrow(/is success since/);
    const named = await anOrder();
    const name = { status: "processing", upstream_reference: "U-late" } as const;
    await settleTransaction(ledgerAt(), named.transaction, name, deadlineIn(9_000));
    await expect(matchEvent(ledgerAt(), event, named.transaction, decision)).rejects.toThrow(/U-late by now/);
    expect(await findEvent(ledgerAt(), `event_${event.pk.slice("event#".length)}`)).toMatchObject({ state: "open" });
  });

  test("of an event that differs from the order is refused with the differences, until the operator accepts them", async () => {
    const order = await anOrder();
    const phone = { hmac: "another", masked: "0805****555" };
    const event = await anEvent("failed", undefined, { type: "airtime", amount_kobo: koboFromNaira(777), phone });
    const wanted = [
      { field: "type", event: "airtime", transaction: "data" },
      { field: "amount", event: "777.00 NGN", transaction: "500.00 NGN" },
      { field: "phone number", event: "0805****555", transaction: "08031234567" },
    ];
    await expect(matchEvent(ledgerAt(), event, order.transaction, decision)).rejects.toThrow(
      /type \(airtime, not data\), amount \(777.00 NGN, not 500.00 NGN\), phone number \(0805\*{4}555, not 08031234567\)/,
    );
    expect(await order.stands()).toMatchObject({ status: "processing" });
    expect(await order.balance()).toBe(500);
    const accepted = await matchEvent(ledgerAt(), event, order.transaction, decision, { acceptsDifferences: true });
    expect(accepted).toEqual(wanted);
    expect(await order.stands()).toMatchObject({ status: "failed" });
    expect(await readAudit(ledgerAt(), order.transaction.pk)).toMatchObject([
      { action: "events match", details: { differs_in: "type,amount,phone number" } },
    ]);
  });

  test.for([
    { stated: {}, isSame: true },
    { stated: { phone: { hmac: "", masked: "0803****567" } }, isSame: true },
    { stated: { phone: { hmac: "", masked: "0803****568" } }, isSame: false },
    { stated: { phone: { hmac: "", masked: "0805****567" } }, isSame: false },
    { phoneNumber: "*********67", stated: { phone: { hmac: "", masked: "0803****567" } }, isSame: true },
    { phoneNumber: "*********68", stated: { phone: { hmac: "", masked: "0803****567" } }, isSame: false },
    { stated: { phone: { hmac: "", masked: "*********67" } }, isSame: true },
    { stated: { phone: { hmac: "", masked: "*********68" } }, isSame: false },
    { stated: { amount_kobo: koboFromNaira(490) }, isSame: false },
    { stated: { type: "airtime" }, isSame: false },
  ])("compares what the event states with what the order shows: %j", async ({ phoneNumber, stated, isSame }) => {
    const order = await anOrder(phoneNumber === undefined ? {} : { phone_number: phoneNumber });
    const event = await anEvent("success", undefined, stated);
    const matched = matchEvent(ledgerAt(), event, order.transaction, decision);
    await (isSame ? expect(matched).resolves.toEqual([]) : expect(matched).rejects.toThrow(/--although-different/));
  });

  test("by 2 operators with 2 orders at once ends 1 of them", async () => {
    const event = await anEvent("failed");
    const orders = [await anOrder(), await anOrder()];
    const results = await Promise.allSettled(
      orders.map(({ transaction }) => matchEvent(ledgerAt(), event, transaction, decision)),
    );
    expect(refusals(results)).toEqual([expect.any(OperatorError)]);
    const ends = await Promise.all(orders.map(async ({ stands }) => (await stands())?.status));
    expect(ends.toSorted()).toEqual(["failed", "processing"]);
  });

  test("of an event that cannot be read is refused; it can be discarded, and the record says what it was", async () => {
    const order = await anOrder();
    const digest = randomBytes(32).toString("base64url");
    const message = { kind: "unreadable_event", mode: "live", digest, problem: "status reversed" } as const;
    await recordUnreadable(ledgerAt(), message, order.transaction.pk);
    const event = await findEvent(ledgerAt(), `event_${digest.slice(0, 32)}`);
    if (event === undefined) throw new Error("The event was not kept");
    await expect(matchEvent(ledgerAt(), event, order.transaction, decision)).rejects.toThrow(
      /cannot be read \(status reversed\): settle its transaction with transactions resolve/,
    );
    expect(await order.stands()).toMatchObject({ status: "processing" });
    await discardEvent(ledgerAt(), event, decision);
    expect(await findEvent(ledgerAt(), `event_${digest.slice(0, 32)}`)).toMatchObject({ state: "discarded" });
    expect(await readAudit(ledgerAt(), order.transaction.pk)).toMatchObject([
      { action: "events discard", details: { says: "status reversed" } },
    ]);
  });

  test("of a discarded event is refused, and so is discarding it again", async () => {
    const [order, event] = [await anOrder(), await anEvent("success")];
    await discardEvent(ledgerAt(), event, decision);
    // As somebody sees it who read it before.
    await expect(matchEvent(ledgerAt(), event, order.transaction, decision)).rejects.toThrow(OperatorError);
    await expect(discardEvent(ledgerAt(), event, decision)).rejects.toThrow(OperatorError);
    expect(await order.stands()).toMatchObject({ status: "processing" });
  });

  test("with a sandbox order is refused", async () => {
    const [order, event] = [await anOrder({ mode: "test" }), await anEvent("success")];
    await expect(matchEvent(ledgerAt(), event, order.transaction, decision)).rejects.toThrow(/sandbox/);
  });
});

describe("what an operator decides", () => {
  test("waits, also with an event in hand, until no request can be under way", async () => {
    const order = await anOrder({ created_at: isoTime(NOON_MS), updated_at: isoTime(NOON_MS) });
    const event = await anEvent("success");
    await expect(matchEvent(ledgerAt(NOON_MS + 31_999), event, order.transaction, decision)).rejects.toThrow("in 1 s");
    await matchEvent(ledgerAt(NOON_MS + 32_000), event, order.transaction, decision);
    expect(await order.stands()).toMatchObject({ status: "success" });
  });

  test("is refused with the reason: decided before, ended before, or about another reference", async () => {
    const event = await anEvent("success");
    await discardEvent(ledgerAt(), event, decision);
    const decided = { ...event, state: "discarded" } as const;
    const order = await anOrder();
    await expect(discardEvent(ledgerAt(), decided, decision)).rejects.toThrow("is discarded already");
    await expect(matchEvent(ledgerAt(), decided, order.transaction, decision)).rejects.toThrow("is discarded already");
    const named = { ...order.transaction, upstream_reference: "U-other" };
    const other = await anEvent("success");
    await expect(matchEvent(ledgerAt(), other, named, decision)).rejects.toThrow(`about ${other.reference}`);
  });

  test("is on record beside what it is about, with the event", async () => {
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
    const about = { ...(await anEvent("failed")), transaction: order.transaction.pk };
    await discardEvent(ledgerAt(), about, decision);
    expect(await readAudit(ledgerAt(), order.transaction.pk)).toHaveLength(2);
  });

  test("to be a failure leaves its code, and to be a success none, for airtime as for data", async () => {
    const failed = await anOrder({ type: "airtime" });
    await resolveTransaction(ledgerAt(), failed.transaction, "failed", decision);
    expect(await failed.stands()).toMatchObject({ failure: { code: "delivery_failed" } });
    const delivered = await anOrder({ type: "airtime" });
    await resolveTransaction(ledgerAt(), delivered.transaction, "success", decision);
    expect(await delivered.stands()).not.toHaveProperty("failure");
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

test("a change of an account is on record with who, what and why; one that changes nothing, or is refused, is not", async () => {
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

test("an act outside the ledger is on record by itself, without a reason where none was given", async () => {
  const subject = `catalog-${randomUUID()}`;
  await recordAudit(ledgerAt(), { subject, by: "ada", action: "catalog accept", details: { plans: 30 } });
  const [act, ...others] = await readAudit(ledgerAt(), subject);
  expect(act).toMatchObject({ by: "ada", action: "catalog accept", details: { plans: 30 } });
  expect(act).not.toHaveProperty("why");
  expect(others).toEqual([]);
});
