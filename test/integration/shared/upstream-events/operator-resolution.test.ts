import { randomBytes, randomUUID } from "node:crypto";
import { TransactWriteCommand, type TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { readAudit, readAuditAbout, readTransactionAudit, SERVICE } from "../../../../shared/ledger/audit.ts";
import { walletPk } from "../../../../shared/ledger/schema.ts";
import { settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { referenceOf, sendingOf, type Transaction } from "../../../../shared/ledger/transaction.ts";
import { upstreamCosts } from "../../../../shared/ledger/upstream-costs.ts";
import { sealWallet } from "../../../../shared/ledger/wallet-seal.ts";
import type { EventMessage } from "../../../../shared/orders/outcome-message.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { InFlightError, OperatorError } from "../../../../shared/platform/operator-error.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { enqueueOrder } from "../../../../shared/queued-orders/queue-store.ts";
import {
  assertResolvable,
  differencesOf,
  discardEvent,
  matchEvent,
  resolveTransaction,
} from "../../../../shared/upstream-events/operator-resolution.ts";
import {
  findEvent,
  isReadable,
  listEvents,
  type ReadableEvent,
  recordEvent,
  recordUnreadable,
  type StoredEvent,
  storedEventId,
} from "../../../../shared/upstream-events/stored-event.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { type FaultyLedger, isWrite, openFaultyLedger, TRIES } from "../../../builders/ledger/faulty-ledger.ts";
import { decision, openOperatorLedger } from "../../../builders/ledger/operator-ledger.ts";
import {
  claimAsSender,
  claimedAsSender,
  queuedCount,
  storedQueued,
  walletAndCount,
} from "../../../builders/ledger/queued-order.ts";
import { newTransactionPk } from "../../../builders/ledger/transaction.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { anOpenOrder, storedEventUnder } from "../../../builders/upstream/event-message.ts";
import { FACE_VALUES } from "../../../builders/upstream/upstream-costs.ts";
import type { WireFault } from "../../../strict/faults.ts";

/**
 * Goal: an operator's decision takes effect once, together with its audit entry, or not at all. The clock is the
 * test's.
 */
const operator = await openOperatorLedger();

/** A stored event. */
const anEvent = async (
  status: "success" | "failed",
  reference = `U-${randomUUID()}`,
  fields: Partial<Pick<EventMessage, "type" | "amount_kobo" | "phone">> = { amount_kobo: koboFromNaira(500) },
): Promise<ReadableEvent> => {
  const receivedAt = isoTime(NOON_MS);
  const event = { kind: "event", mode: "live", received_at: receivedAt, status, type: "data" } as const;
  await recordEvent(operator.ledgerAt(), { ...event, reference, ...fields }, "no_candidate");
  const stored = await storedEventUnder(operator.ledgerAt(), reference);
  if (!isReadable(stored)) throw new Error("The event cannot be read");
  return stored;
};

/** An order of 500 NGN that the upstream's limit refused. */
const aQueuedOrder = async () => {
  const order = await operator.anOrder();
  const toSend = { kind: "data", network_id: 1, plan_id: 101 } as const;
  await enqueueOrder(operator.ledgerAt(), order.transaction, toSend, deadlineIn(9_000));
  return { ...order, transaction: await storedQueued(operator.ledgerAt(), order.transaction.pk) };
};

/** The operator's decision, with an event. */
const matchAtNoon = (event: StoredEvent, transaction: Transaction, decided: Parameters<typeof matchEvent>[4] = {}) =>
  matchEvent({ ledger: operator.ledgerAt(), costs: FACE_VALUES }, event, transaction, decision, decided);
const resolveAtNoon = (transaction: Transaction, status: "success" | "failed") =>
  resolveTransaction(operator.ledgerAt(), transaction, status, decision);
const discardAtNoon = (event: StoredEvent) => discardEvent(operator.ledgerAt(), event, decision);

const closeWallet = (accountId: string) => changeItem(operator.ledgerAt(), walletPk(accountId), { closed: true });

describe("resolveTransaction", () => {
  test("a resolution as failed refunds the order and records the failure's code, as success it does not, and both close it", async () => {
    for (const [status, balance, failure] of [
      ["failed", 1_000, { code: "delivery_failed" }],
      ["success", 500, undefined],
    ] as const) {
      const order = await operator.anOrder();
      await resolveAtNoon(order.transaction, status);
      expect(await order.balance()).toBe(balance);
      const stored = await order.stored();
      expect(stored).toMatchObject({ status });
      expect([stored?.failure, stored?.open]).toEqual([failure, undefined]);
    }
  });

  test("a resolution of an order that was settled in the meantime is refused and leaves no audit entry", async () => {
    const order = await operator.anOrder();
    await settleTransaction(operator.ledgerAt(), order.transaction, { status: "success" }, deadlineIn(9_000));
    await expect(resolveAtNoon(order.transaction, "failed")).rejects.toThrow(/was settled as success at/);
    for (const [status, correction] of [
      ["success", "transactions refund gives the amount back"],
      ["failed", `wallet adjust .*--id delivered-${referenceOf(order.transaction)}$`],
    ] as const) {
      const final = { ...order.transaction, status };
      expect(() => assertResolvable(operator.ledgerAt(), final, "failed")).toThrow(new RegExp(correction));
    }
    expect(await order.balance()).toBe(500);
    expect(await readTransactionAudit(operator.ledgerAt(), order.transaction)).toEqual([]);
  });

  test("a queued order can only be resolved as failed, which refunds it and ends its wait", async () => {
    const order = await aQueuedOrder();
    await expect(resolveAtNoon(order.transaction, "success")).rejects.toThrow(
      /waits and was not sent: it can only be resolved as failed/,
    );
    await resolveAtNoon(order.transaction, "failed");
    expect(await order.balance()).toBe(1_000);
    expect(await order.stored()).toMatchObject({ status: "failed" });
    expect(await order.stored()).not.toHaveProperty("queued");
    expect(await queuedCount(operator.ledgerAt(), order.accountId)).toBe(0);
    expect(await order.isReconciled()).toBe(true);
  });

  test("a queued order that is claimed in the meantime is not resolved: it may be on its way upstream", async () => {
    const order = await aQueuedOrder();
    const claimed = await claimedAsSender(operator.ledgerAt(), order.transaction);
    await expect(resolveAtNoon(order.transaction, "failed")).rejects.toThrow(/has begun to wait or was sent/);
    const later = operator.ledgerAt(NOON_MS + 38_000);
    const refusal = async (seen?: string) =>
      resolveTransaction(later, claimed, "failed", decision, seen).catch((error: unknown) => error);
    // A command waits for the end of a request and tries again by itself: not for one that began after it was decided.
    const unseen = await refusal();
    expect(unseen).not.toBeInstanceOf(InFlightError);
    expect(unseen).toMatchObject({ message: expect.stringMatching(/waited, and was sent 38 s ago/) });
    const seen = await refusal(sendingOf(claimed));
    expect(seen).toBeInstanceOf(InFlightError);
    expect(seen).toMatchObject({ message: expect.stringMatching(/in flight: try again in 1 s/) });
    expect(await order.balance()).toBe(500);
    expect(await readTransactionAudit(operator.ledgerAt(), order.transaction)).toEqual([]);
  });

  test("an order that has begun to wait since it was read is not resolved", async () => {
    const order = await aQueuedOrder();
    const { queued: _queued, ...read } = order.transaction;
    await expect(resolveAtNoon(read, "failed")).rejects.toThrow(/has begun to wait or was sent/);
    expect(await order.balance()).toBe(500);
  });

  test("an order that waited again and was sent again in the meantime is not resolved", async () => {
    const { transaction, stored, balance } = await aQueuedOrder();
    const first = await claimedAsSender(operator.ledgerAt(), transaction);
    const target = { ...first, claimed: { number: transaction.queued.number } };
    await enqueueOrder(operator.ledgerAt(), target, transaction.queued.order, deadlineIn(9_000));
    const later = operator.ledgerAt(NOON_MS + 60_000);
    await claimAsSender(later, await storedQueued(later, transaction.pk));
    await expect(resolveTransaction(later, first, "failed", decision)).rejects.toThrow(
      /has begun to wait or was sent since/,
    );
    expect([await balance(), await stored()]).toMatchObject([500, { status: "processing" }]);
  });

  test("a decision about an order that waited settles nothing once it was sent, and one about that sending does", async () => {
    const { transaction, stored, balance } = await aQueuedOrder();
    const seen = sendingOf(transaction);
    expect(seen).toBe("waits");
    const sent = await claimedAsSender(operator.ledgerAt(), transaction);
    const later = operator.ledgerAt(NOON_MS + 60_000);
    const event = await anEvent("failed", referenceOf(sent));
    const matching = { ledger: later, costs: FACE_VALUES };
    const since = /has begun to wait or was sent since you saw it/;
    await expect(resolveTransaction(later, sent, "failed", decision, seen)).rejects.toThrow(since);
    await expect(matchEvent(matching, event, sent, decision, { seen })).rejects.toThrow(since);
    expect(await balance()).toBe(500);
    await matchEvent(matching, event, sent, decision, { seen: sendingOf(sent) });
    expect([await balance(), await stored()]).toMatchObject([1_000, { status: "failed" }]);
  });

  test("an order whose request may be in flight is not resolved at 38 s, and is at 39 s: the clock that dated it may be 10 s behind", async () => {
    const at = isoTime(NOON_MS);
    const order = await operator.anOrder({ created_at: at, updated_at: at });
    const resolve = (ageMs: number) =>
      resolveTransaction(operator.ledgerAt(NOON_MS + ageMs), order.transaction, "failed", decision);
    await expect(resolve(38_000)).rejects.toThrow(/in flight: try again in 1 s/);
    await resolve(39_000);
    expect(await order.balance()).toBe(1_000);
  });

  test("an order is resolved at once if its request has recorded an outcome", async () => {
    const at = isoTime(NOON_MS);
    const order = await operator.anOrder({ created_at: at, updated_at: isoTime(NOON_MS + 500) });
    await resolveTransaction(operator.ledgerAt(NOON_MS + 1_000), order.transaction, "failed", decision);
    expect(await order.stored()).toMatchObject({ status: "failed" });
  });

  test("a check without a result can only be resolved as failed", async () => {
    const order = await operator.anOrder({ type: "nin_verification" });
    await expect(resolveAtNoon(order.transaction, "success")).rejects.toThrow(OperatorError);
    await resolveAtNoon(order.transaction, "failed");
    expect(await order.balance()).toBe(1_000);
  });

  test("a queued order of a copy of its table may have been sent since, so it can be resolved as success", async () => {
    const { transaction, ...order } = await aQueuedOrder();
    const copied = { ...transaction, queued: { ...transaction.queued, table: "before" } };
    await resolveAtNoon(copied, "success");
    expect(await order.stored()).toMatchObject({ status: "success" });
  });

  test("an order whose account is closed between two attempts of its refund is not refunded", async () => {
    const { accountId, transaction, stored } = await operator.anOrder();
    const ledger = operator.ledgerAt();
    await sealWallet(ledger, accountId, isoTime(ledger.clock()));
    vi.spyOn(ledger.db, "transactWrite").mockImplementationOnce(async (refusedBySeal: TransactWriteCommandInput) => {
      const [sent] = await Promise.allSettled([ledger.db.send(new TransactWriteCommand(refusedBySeal))]);
      await closeWallet(accountId);
      if (sent.status === "rejected") throw sent.reason;
    });
    const resolved = resolveTransaction(ledger, transaction, "failed", decision);
    await expect(resolved).rejects.toThrow(/is closed/);
    expect(await stored()).toEqual(transaction);
  });

  test("a resolution of a sandbox order changes no wallet", async () => {
    const order = await operator.anOrder({ mode: "test" });
    await resolveAtNoon(order.transaction, "failed");
    expect(await order.stored()).toMatchObject({ status: "failed" });
    expect(await order.balance()).toBe(1_000);
  });
});

describe("matchEvent", () => {
  test("an event under the upstream's reference is not matched to a queued order, and one under its own is", async () => {
    const order = await aQueuedOrder();
    const match = async (event: ReadableEvent) => matchAtNoon(event, order.transaction);
    await expect(match(await anEvent("success"))).rejects.toThrow(/waits and was not sent/);
    expect(await order.stored()).toMatchObject({ status: "processing" });
    await match(await anEvent("success", referenceOf(order.transaction)));
    expect(await order.stored()).toMatchObject({ status: "success" });
    expect(await walletAndCount(operator.ledgerAt(), order.accountId)).toMatchObject({
      balance_kobo: 500_00,
      queued_orders: 0,
    });
  });

  test.each(["success", "failed"] as const)(
    "an event under the upstream's reference that says %s is matched to an order that waits in the table of which this is a copy",
    async (says) => {
      const { transaction, ...order } = await aQueuedOrder();
      const copied = { ...transaction, queued: { ...transaction.queued, table: "before" } };
      const event = await anEvent(says);
      await matchAtNoon(event, copied);
      expect(await order.stored()).toMatchObject({ status: says, upstream_reference: event.reference });
      expect(await walletAndCount(operator.ledgerAt(), order.accountId)).toMatchObject({
        balance_kobo: says === "success" ? 500_00 : 1_000_00,
        queued_orders: 0,
      });
    },
  );

  test("a match settles the order with the event's status, reference and amount, and closes the event", async () => {
    const [order, event] = [await operator.anOrder(), await anEvent("success")];
    await matchAtNoon(event, order.transaction);
    expect(await order.stored()).toMatchObject({
      status: "success",
      upstream_reference: event.reference,
      upstream_amount_kobo: 500_00,
    });
    const closed = await findEvent(operator.ledgerAt(), `event_${event.pk.slice("event#".length)}`);
    expect(closed).toMatchObject({ state: "matched", transaction_pk: order.transaction.pk });
  });

  test("a check without a result can only be matched with a failed", async () => {
    const check = await operator.anOrder({ type: "nin_verification" });
    const match = async (status: "success" | "failed", reference?: string) => {
      const event = await anEvent(status, reference, { type: "nin_verification" });
      return matchAtNoon(event, check.transaction);
    };
    await expect(match("success")).rejects.toThrow(/can only be resolved as failed/);
    await expect(match("success", referenceOf(check.transaction))).rejects.toThrow(/can only be resolved as failed/);
    expect(await check.stored()).toMatchObject({ status: "processing" });
    await match("failed");
    expect(await check.balance()).toBe(1_000);
  });

  test("a match with a failed refunds the order, and leaves the cost of its debit", async () => {
    const costs = upstreamCosts.parse({ amountIs: "charged", tolerancePercent: 5 });
    const order = await operator.anOrder({ cost_kobo: koboFromNaira(485) });
    await matchEvent({ ledger: operator.ledgerAt(), costs }, await anEvent("failed"), order.transaction, decision);
    expect(await order.balance()).toBe(1_000);
    expect(await order.stored()).toMatchObject({ upstream_amount_kobo: 500_00, cost_kobo: 485_00 });
    expect(await order.isReconciled()).toBe(true);
  });

  test("an event is matched with the order of its upstream reference, and refused for one with another", async () => {
    const own = await operator.anOrder({ upstream_reference: "U-own" });
    // The reference identifies it, whatever else differs.
    const event = await anEvent("failed", "U-own", { amount_kobo: koboFromNaira(490) });
    const other = await operator.anOrder({ upstream_reference: "U-other" });
    await expect(matchAtNoon(event, other.transaction)).rejects.toThrow(
      /calls .* U-other, and the event is about U-own/,
    );
    expect(await other.stored()).toMatchObject({ status: "processing" });
    await matchAtNoon(event, own.transaction);
    expect(await own.stored()).toMatchObject({ status: "failed" });
  });

  test("a match of an event under our own reference keeps the upstream reference", async () => {
    for (const upstreamReference of [undefined, "U-known"]) {
      const order = await operator.anOrder({
        pk: newTransactionPk(),
        ...(upstreamReference !== undefined && { upstream_reference: upstreamReference }),
      });
      const event = await anEvent("failed", referenceOf(order.transaction), { amount_kobo: koboFromNaira(490) });
      await matchAtNoon(event, order.transaction);
      const settled = await order.stored();
      expect(settled).toMatchObject({ status: "failed", upstream_amount_kobo: 490_00 });
      expect(settled?.upstream_reference).toBe(upstreamReference);
    }
  });

  test("an order that was settled or got another upstream reference since it was read is not matched, and the event stays open", async () => {
    const event = await anEvent("success");
    const settled = await operator.anOrder();
    await settleTransaction(operator.ledgerAt(), settled.transaction, { status: "success" }, deadlineIn(9_000));
    await expect(matchAtNoon(event, settled.transaction)).rejects.toThrow(/was settled as success at/);
    const other = await operator.anOrder();
    const settlement = { status: "processing", upstream_reference: "U-late" } as const;
    await settleTransaction(operator.ledgerAt(), other.transaction, settlement, deadlineIn(9_000));
    await expect(matchAtNoon(event, other.transaction)).rejects.toThrow(/The upstream.s reference of .* is U-late/);
    expect(await findEvent(operator.ledgerAt(), `event_${event.pk.slice("event#".length)}`)).toMatchObject({
      state: "open",
    });
  });

  test("an event that differs from the order is refused with the differences, until the operator accepts them", async () => {
    const order = await operator.anOrder();
    const phone = { key: "another", masked: "0805****555" };
    const event = await anEvent("failed", undefined, { type: "airtime", amount_kobo: koboFromNaira(777), phone });
    const differences = [
      { field: "type", event: "airtime", transaction: "data" },
      { field: "amount", event: "NGN 777.00", transaction: "NGN 500.00" },
      { field: "phone number", event: "0805****555", transaction: "08031234567" },
    ];
    await expect(matchAtNoon(event, order.transaction)).rejects.toThrow(
      /type \(airtime, not data\), amount \(NGN 777.00, not NGN 500.00\), phone number \(0805\*{4}555, not 08031234567\)/,
    );
    expect(await order.stored()).toMatchObject({ status: "processing" });
    expect(await order.balance()).toBe(500);
    const accepted = await matchAtNoon(event, order.transaction, { acceptsDifferences: true });
    expect(accepted).toEqual(differences);
    expect(await order.stored()).toMatchObject({ status: "failed" });
    expect(await readTransactionAudit(operator.ledgerAt(), order.transaction)).toMatchObject([
      { action: "events match", details: { differs_in: "type,amount,phone number" } },
    ]);
  });

  test("an event that came before the order was sent is about another one, until the operator accepts it", async () => {
    const at = isoTime(NOON_MS + 1_000);
    const order = await operator.anOrder({ created_at: at, updated_at: at });
    // Stored 6 minutes after it came, when its reference was still unknown.
    const ledger = operator.ledgerAt(NOON_MS + 360_000);
    const reference = `U-${randomUUID()}`;
    const event = { kind: "event", mode: "live", received_at: isoTime(NOON_MS), reference, status: "failed" } as const;
    await recordEvent(ledger, event, "unknown_failure");
    const stored = await storedEventUnder(ledger, reference);
    const match = (options = {}) =>
      matchEvent({ ledger, costs: FACE_VALUES }, stored, order.transaction, decision, options);
    await expect(match()).rejects.toThrow(/differs from .* in time \(2.*, not 2.*\)/);
    expect(await order.stored()).toMatchObject({ status: "processing" });
    expect(await match({ acceptsDifferences: true })).toEqual([
      { field: "time", event: isoTime(NOON_MS), transaction: at },
    ]);
    const sentThen = { ...order.transaction, created_at: event.received_at };
    expect(differencesOf(FACE_VALUES, await anEvent("success"), sentThen)).toEqual([]);
  });

  test.for([
    { fields: {}, isSame: true },
    { fields: { type: undefined }, isSame: true },
    { fields: { phone: { key: "", masked: "0803****567" } }, isSame: true },
    { fields: { phone: { key: "", masked: "0803****568" } }, isSame: false },
    { fields: { phone: { key: "", masked: "0805****567" } }, isSame: false },
    { phoneNumber: "*********67", fields: { phone: { key: "", masked: "0803****567" } }, isSame: true },
    { phoneNumber: "08*******67", fields: { phone: { key: "", masked: "0803****567" } }, isSame: true },
    { phoneNumber: "*********68", fields: { phone: { key: "", masked: "0803****567" } }, isSame: false },
    { fields: { phone: { key: "", masked: "*********67" } }, isSame: true },
    { fields: { phone: { key: "", masked: "*********68" } }, isSame: false },
    { fields: { amount_kobo: koboFromNaira(490) }, isSame: false },
    { fields: { type: "airtime" }, isSame: false },
  ])(
    "only fields that both have, and digits that both show, are compared: %j",
    async ({ phoneNumber, fields, isSame }) => {
      const order = await operator.anOrder(phoneNumber === undefined ? {} : { phone_number: phoneNumber });
      const event = await anEvent("success", undefined, fields);
      const matched = matchAtNoon(event, order.transaction);
      await (isSame ? expect(matched).resolves.toEqual([]) : expect(matched).rejects.toThrow(/--although-different/));
    },
  );

  test("an unreadable event cannot be matched; it can be discarded, and the audit entry has its problem", async () => {
    const order = await operator.anOrder();
    const digest = randomBytes(32).toString("base64url");
    const message = { kind: "unreadable_event", mode: "live", digest, problem: "status reversed" } as const;
    await recordUnreadable(operator.ledgerAt(), message, order.transaction.pk);
    const event = await findEvent(operator.ledgerAt(), `event_${digest.slice(0, 32)}`);
    if (event === undefined) throw new Error("The event was not stored");
    await expect(matchAtNoon(event, order.transaction)).rejects.toThrow(
      /reports no status \(status reversed\): settle its transaction with transactions resolve/,
    );
    expect(await order.stored()).toMatchObject({ status: "processing" });
    await discardAtNoon(event);
    expect(await findEvent(operator.ledgerAt(), `event_${digest.slice(0, 32)}`)).toMatchObject({ state: "discarded" });
    expect(await readTransactionAudit(operator.ledgerAt(), order.transaction)).toMatchObject([
      { action: "events discard", details: { says: "status reversed" } },
    ]);
  });

  test("a discarded event cannot be matched or discarded, also by an operator who read it before", async () => {
    const [order, event] = [await operator.anOrder(), await anEvent("success")];
    await discardAtNoon(event);
    await expect(matchAtNoon(event, order.transaction)).rejects.toThrow(OperatorError);
    await expect(discardAtNoon(event)).rejects.toThrow(OperatorError);
    const closed = { ...event, state: "discarded" } as const;
    await expect(discardAtNoon(closed)).rejects.toThrow("is discarded already");
    await expect(matchAtNoon(closed, order.transaction)).rejects.toThrow("is discarded already");
    expect(await order.stored()).toMatchObject({ status: "processing" });
  });

  test("an event is not matched with a sandbox order", async () => {
    const [order, event] = [await operator.anOrder({ mode: "test" }), await anEvent("success")];
    await expect(matchAtNoon(event, order.transaction)).rejects.toThrow(/sandbox/);
  });
});

describe("every decision", () => {
  test("a match is in the audit log of the order's account, and a discarded event in that of the service", async () => {
    const [discarded, matched] = [await anEvent("failed"), await anEvent("success")];
    const order = await operator.anOrder();
    await discardAtNoon(discarded);
    await matchAtNoon(matched, order.transaction);
    expect(await readAuditAbout(operator.ledgerAt(), [SERVICE], discarded.pk)).toMatchObject([
      { by: "ada", action: "events discard", details: { event: storedEventId(discarded), says: "failed" } },
    ]);
    const reference = referenceOf(order.transaction);
    expect(await readAudit(operator.ledgerAt(), order.accountId)).toMatchObject([
      { by: "ada", action: "events match", details: { reference, event: storedEventId(matched), says: "success" } },
    ]);
    const [audited] = await readAudit(operator.ledgerAt(), order.accountId);
    expect(audited?.details).not.toHaveProperty("differs_in");
    const withTransaction = { ...(await anEvent("failed")), transaction_pk: order.transaction.pk };
    await discardAtNoon(withTransaction);
    expect(await readTransactionAudit(operator.ledgerAt(), order.transaction)).toHaveLength(2);
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

  test("a resolution without an answer fails and is not retried, because it may have been written", async () => {
    const order = await anOldOrder();
    const seen = ledger.firstWrites(99, "never_arrives");
    await expect(resolveTransaction(ledger, order.transaction, "failed", decision)).rejects.not.toBeInstanceOf(
      OperatorError,
    );
    expect(seen.writes).toBe(TRIES);
    expect((await order.stored())?.status).toBe("processing");
  });

  test("a refund that is refused while its first copy may still land is an error, not a refusal", async () => {
    const order = await anOldOrder();
    await changeItem(ledger, walletPk(order.transaction.account_id), { closed: true });
    ledger.firstTries(1, "lands_late");
    await expect(resolveTransaction(ledger, order.transaction, "failed", decision)).rejects.not.toBeInstanceOf(
      OperatorError,
    );
    await changeItem(ledger, walletPk(order.transaction.account_id), { closed: undefined });
    await ledger.proxy.landLateWrites();
    expect((await order.stored())?.status).toBe("failed");
  });

  test("a discarding that is refused because its first copy was carried out is done, and recorded once", async () => {
    await recordUnreadable(ledger, {
      kind: "unreadable_event",
      mode: "live",
      digest: "0".repeat(43),
      problem: "status reversed",
    });
    const [event] = await listEvents(ledger, "0000");
    if (event === undefined) throw new Error("The event was not stored");
    // The answer to the first copy is lost, and the second one meets another write: the third is another request.
    const faults: WireFault[] = ["answer_lost", "conflict"];
    ledger.proxy.fault = ({ operation }) => (isWrite(operation) ? faults.shift() : undefined);
    await discardEvent(ledger, event, decision);
    expect(await findEvent(ledger, storedEventId(event))).toMatchObject({ state: "discarded" });
    expect(await readAudit(ledger, SERVICE)).toHaveLength(1);
  });
});
