import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { withMaskedPhone } from "../../../../shared/ledger/masked-transaction.ts";
import { NOT_DELIVERED, settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { ERASED_FINGERPRINT, referenceOf, type Transaction } from "../../../../shared/ledger/transaction.ts";
import { upstreamCosts } from "../../../../shared/ledger/upstream-costs.ts";
import type { OutcomeMessage, UnreadableMessage } from "../../../../shared/orders/outcome-message.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { enqueueMessageOf } from "../../../../shared/queued-orders/enqueue-or-defer.ts";
import { applyOutcomeMessage } from "../../../../shared/upstream-events/apply-outcome-message.ts";
import { DECISION_AGE_MS } from "../../../../shared/upstream-events/apply-upstream-event.ts";
import { discardEvent } from "../../../../shared/upstream-events/operator-resolution.ts";
import { findEvent } from "../../../../shared/upstream-events/stored-event.ts";
import { beforeNext } from "../../../builders/dynamodb/another-process.ts";
import { faultyLedgerForTests } from "../../../builders/ledger/faulty-ledger.ts";
import { claimAsSender, claimedAsSender, storedQueued } from "../../../builders/ledger/queued-order.ts";
import { keyedHashes } from "../../../builders/ledger/secrets.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { appliedTo } from "../../../builders/upstream/applied-message.ts";
import {
  anEvent,
  anUnauthenticatedEvent,
  aPhoneNumber,
  aTransactionPk,
  authenticated,
  storedEventUnder,
  storedUnder,
} from "../../../builders/upstream/event-message.ts";

/**
 * Goal: an event settles exactly the transaction that it is about, once, and an event that is not applied is stored.
 */
const ledger = await faultyLedgerForTests();

const done = (outcome: string) => ({ kind: "done", outcome });

const { apply, anOrder, callsOf, logOf } = appliedTo(ledger);

const storedEvents = (reference: string) => storedUnder(ledger, reference);

const amountsAlerted = async (...messages: readonly OutcomeMessage[]): Promise<readonly unknown[]> =>
  (await logOf(...messages)).flatMap(({ event, theirs }) => (event === "transaction.amount_differs" ? [theirs] : []));

describe("events under an upstream reference", () => {
  const charged = upstreamCosts.parse({ amountIs: "charged", tolerancePercent: 1 });
  test("a charge that an event states is the cost of its order, and raises no alarm within the tolerance", async () => {
    const event = await anEvent({ amount_kobo: koboFromNaira(486) });
    const order = await anOrder({ upstream_reference: event.reference, cost_kobo: koboFromNaira(485) });
    const log = captureLog();
    const deps = { ledger, keyedHashes, costs: charged };
    expect(await applyOutcomeMessage(deps)(event, deadlineIn(20_000))).toEqual(done("applied"));
    expect(await order.stored()).toMatchObject({
      upstream_amount_kobo: 486_00,
      cost_kobo: 486_00,
      amount_kobo: 500_00,
    });
    const copy = { ...event, amount_kobo: koboFromNaira(500) };
    await applyOutcomeMessage(deps)(await authenticated(copy), deadlineIn(20_000));
    const alarms = log.lines().filter(({ event: name }) => name === "transaction.amount_differs");
    expect(alarms).toEqual([expect.objectContaining({ ours: 486_00, theirs: 500_00 })]);
  });

  test("a charge that a failed states is recorded, and its order keeps the cost of its debit", async () => {
    const event = await anEvent({ status: "failed", amount_kobo: koboFromNaira(486) });
    const order = await anOrder({ upstream_reference: event.reference, cost_kobo: koboFromNaira(485) });
    await applyOutcomeMessage({ ledger, keyedHashes, costs: charged })(event, deadlineIn(20_000));
    expect(await order.stored()).toMatchObject({ status: "failed", upstream_amount_kobo: 486_00, cost_kobo: 485_00 });
  });

  test.each([
    ["success", undefined, "UpdateItem", 1_500],
    ["failed", { code: "delivery_failed" }, "TransactWriteItems", 2_000],
  ] as const)(
    "a %s settles its order once, in 2 calls, with its reference and its amount, and its copy is a duplicate in 1",
    async (status, failure, write, balance) => {
      const event = await anEvent({ status });
      const order = await anOrder({ upstream_reference: event.reference });
      const log = captureLog();
      expect(await callsOf(event)).toEqual(["Query", write]);
      expect(log.lines()).toEqual([]);
      const settled = await order.stored();
      expect(settled).toMatchObject({
        ...{ status, reported_by: "event", upstream_reference: event.reference, upstream_amount_kobo: 50_000 },
      });
      expect(settled?.failure).toEqual(failure);
      expect(await callsOf(event)).toEqual(["Query"]);
      expect(await apply(event)).toEqual(done("duplicate"));
      expect(await order.balance()).toBe(balance);
    },
  );

  test("an event without an amount and a type is applied, and records no amount", async () => {
    const event = await anEvent({ amount_kobo: undefined, type: undefined });
    const order = await anOrder({ upstream_reference: event.reference });
    expect(await amountsAlerted(event, event)).toEqual([]);
    const settled = await order.stored();
    expect(settled).toMatchObject({ status: "success" });
    expect(settled?.upstream_amount_kobo).toBeUndefined();
  });

  test("an event about an order or a check of the sandbox is escalated", async () => {
    const inSandbox = { mode: "test", open: undefined } as const;
    const order = await anOrder({ ...inSandbox, upstream_reference: `U-${randomUUID()}` });
    const check = await anOrder({ ...inSandbox, pk: await aTransactionPk("test"), type: "nin_verification" });
    for (const { transaction, stored } of [order, check]) {
      const event = await anEvent({ reference: transaction.upstream_reference ?? referenceOf(transaction) });
      expect(await apply(event), transaction.type).toEqual(done("no_candidate"));
      expect((await stored())?.status).toBe("processing");
    }
  });

  test("an event whose reference two orders have is escalated with an alarm", async () => {
    const event = await anEvent();
    const orders = [
      await anOrder({ upstream_reference: event.reference }),
      await anOrder({ upstream_reference: event.reference }),
    ];
    expect(await logOf(event)).toMatchObject([
      { event: "upstream_event.escalated", reason: "several_candidates", upstream_reference: event.reference },
    ]);
    expect(await apply(event)).toEqual(done("several_candidates"));
    for (const order of orders) expect((await order.stored())?.status).toBe("processing");
  });

  test("an event whose order gets the other status between the read and the write is a contradiction", async () => {
    const event = await anEvent();
    const { transaction, stored, balance } = await anOrder({ upstream_reference: event.reference });
    beforeNext(ledger.db, "update", () => settleTransaction(ledger, transaction, NOT_DELIVERED, deadlineIn(20_000)));
    expect(await apply(event)).toEqual(done("contradiction"));
    expect(await stored()).toMatchObject({ status: "failed" });
    expect(await balance()).toBe(2_000);
  });

  test.each([
    ["an order", {}, (stored: Transaction) => withMaskedPhone(stored)],
    [
      "a check",
      { type: "nin_verification" },
      (stored: Transaction) => ({ ...stored, fingerprint: ERASED_FINGERPRINT }),
    ],
  ] as const)(
    "an event about %s whose person was erased is stored with two digits of its number, if it has one",
    async (_what, changes, erased) => {
      const event = await anEvent();
      const { transaction } = await anOrder({ ...changes, upstream_reference: event.reference });
      await settleTransaction(ledger, transaction, NOT_DELIVERED, deadlineIn(20_000));
      const settled = await readTransaction(ledger, transaction.pk);
      await ledger.db.put({ TableName: ledger.table, Item: erased(settled ?? transaction) });
      expect(await apply(event)).toEqual(done("contradiction"));
      expect(await storedEvents(event.reference)).toMatchObject([
        { reason: "contradiction", transaction_pk: transaction.pk, phone_masked: "*********67" },
      ]);
      const withoutNumber = await anEvent({ reference: event.reference, phone: undefined });
      expect(await apply(withoutNumber)).toEqual(done("contradiction"));
    },
  );
});

describe("authentication", () => {
  test("a success that only the path token authenticates is applied", async () => {
    const event = await anUnauthenticatedEvent();
    await anOrder({ upstream_reference: event.reference });
    expect(await apply(event)).toEqual(done("applied"));
  });

  test("a failed refunds nothing if its MAC is absent or wrong", async () => {
    const event = await anUnauthenticatedEvent({ status: "failed" });
    const order = await anOrder({ upstream_reference: event.reference });
    const own = await authenticated(event);
    for (const message of [event, { ...own, mac: `${own.mac}A` }]) {
      expect(await apply(message)).toEqual(done("unauthenticated"));
    }
    expect((await storedEvents(event.reference))[0]).toMatchObject({ reason: "unauthenticated", state: "open" });
    expect(await order.stored()).toMatchObject({ status: "processing" });
    expect(await order.balance()).toBe(1_500);
    expect(await apply(own)).toEqual(done("applied"));
    expect(await order.balance()).toBe(2_000);
  });
});

describe("the upstream's amount", () => {
  test("another amount is applied, recorded as the upstream's charge, and raises one alarm for all its copies", async () => {
    const event = await anEvent({ amount_kobo: koboFromNaira(480) });
    const order = await anOrder({ upstream_reference: event.reference });
    expect(await amountsAlerted(event, event, event)).toEqual([48_000]);
    expect(await order.stored()).toMatchObject({
      status: "success",
      upstream_amount_kobo: 48_000,
      amount_kobo: 50_000,
    });
  });

  test("another amount raises the alarm for an order that its own request settled too", async () => {
    for (const [status, settled] of [
      ["success", { status: "success", upstream_amount_kobo: koboFromNaira(500) }],
      ["failed", { status: "failed", failure: { code: "delivery_failed" } }],
    ] as const) {
      const event = await anEvent({ status, amount_kobo: koboFromNaira(520) });
      const { transaction } = await anOrder({ upstream_reference: event.reference });
      await settleTransaction(ledger, transaction, settled, deadlineIn(9_000));
      expect(await amountsAlerted(event), status).toEqual([52_000]);
      expect(await amountsAlerted(await anEvent({ reference: event.reference, status }))).toEqual([]);
    }
  });

  test("an amount that the upstream's response had already raises no second alarm, nor does an event without one, and a third amount does", async () => {
    const event = await anEvent({ amount_kobo: koboFromNaira(520) });
    const { transaction } = await anOrder({ upstream_reference: event.reference });
    const settlement = { status: "processing", upstream_amount_kobo: koboFromNaira(520) } as const;
    await settleTransaction(ledger, transaction, settlement, deadlineIn(9_000));
    expect(await amountsAlerted(event)).toEqual([]);
    expect(await amountsAlerted(await anEvent({ reference: event.reference, amount_kobo: undefined }))).toEqual([]);
    const other = await anEvent({ reference: event.reference, amount_kobo: koboFromNaira(530) });
    expect(await amountsAlerted(other)).toEqual([53_000]);
  });

  test("another amount of a failed that is not authenticated raises the alarm", async () => {
    const event = await anUnauthenticatedEvent({ status: "failed", amount_kobo: koboFromNaira(520) });
    await anOrder({ upstream_reference: event.reference });
    expect(await amountsAlerted(event)).toEqual([52_000]);
  });
});

describe("events under our own reference", () => {
  const anOwnOrder = async (changes: Partial<Transaction> = {}) => {
    const order = await anOrder({ pk: await aTransactionPk(), ...changes });
    return { ...order, reference: referenceOf(order.transaction) };
  };

  test.each([undefined, "U-known"])(
    "an event under our own reference settles its order in 3 calls, and leaves the upstream's as it is: %s",
    async (upstream_reference) => {
      const order = await anOwnOrder({ upstream_reference });
      const event = await anEvent({ reference: order.reference });
      expect(await callsOf(event)).toEqual(["Query", "GetItem", "UpdateItem"]);
      const settled = await order.stored();
      expect(settled).toMatchObject({ status: "success", upstream_amount_kobo: 50_000 });
      expect(settled?.upstream_reference).toBe(upstream_reference);
      expect(await apply(event)).toEqual(done("duplicate"));
    },
  );

  test("a failed under our own reference refunds once, and only if it is authenticated", async () => {
    const order = await anOwnOrder();
    const event = await anUnauthenticatedEvent({ reference: order.reference, status: "failed" });
    expect(await apply(event)).toEqual(done("unauthenticated"));
    expect(await order.balance()).toBe(1_500);
    expect(await apply(await authenticated(event))).toEqual(done("applied"));
    expect(await apply(await authenticated(event))).toEqual(done("duplicate"));
    expect(await order.balance()).toBe(2_000);
  });

  describe("a failed of an order that the upstream refused with 429 and that was sent again", () => {
    /** Refused by itself and set aside, a minute ago. */
    const aRefusedOrder = async () => {
      const order = await anOwnOrder();
      const target = { ...order.transaction, refusals: 1 };
      await apply(enqueueMessageOf(ledger, target, { kind: "data", network_id: 1, plan_id: 101 }));
      const event = await anEvent({ reference: order.reference, status: "failed" });
      const sendAgain = async () => claimedAsSender(ledger, await storedQueued(ledger, order.transaction.pk));
      return { ...order, event, sendAgain };
    };

    test("refunds it while it waits", async () => {
      const { event, balance } = await aRefusedOrder();
      expect(await apply(event)).toEqual(done("applied"));
      expect(await balance()).toBe(2_000);
    });

    test("waits for its request, and is then a case for a person: it may be about the sending before", async () => {
      const { event, sendAgain, reference, stored, balance } = await aRefusedOrder();
      await sendAgain();
      ledger.nowMs += 2_000;
      expect(await apply(event)).toEqual({ kind: "retry", reason: "order_in_flight", afterS: 37 });
      ledger.nowMs += 37_000;
      expect(await apply(event)).toEqual(done("sent_again"));
      expect(await stored()).toMatchObject({ status: "processing" });
      expect(await balance()).toBe(1_500);
      expect(await storedEvents(reference)).toMatchObject([{ reason: "sent_again", state: "open", says: "failed" }]);
      expect(await amountsAlerted(await anEvent({ ...event, amount_kobo: koboFromNaira(520) }))).toEqual([52_000]);
    });

    test.each([
      ["sent_again", true],
      ["unauthenticated", false],
    ])(
      "is a case %s after the next sending too, although the one before it was discarded",
      async (outcome, isSigned) => {
        const { event: signed, sendAgain, reference } = await aRefusedOrder();
        const { mac: _mac, ...unsigned } = signed;
        const event = isSigned ? signed : unsigned;
        const escalateAfterFlight = async () => {
          ledger.nowMs += 39_000;
          for (const _copy of [1, 2]) expect(await apply(event)).toEqual(done(outcome));
        };
        const sent = await sendAgain();
        await escalateAfterFlight();
        await discardEvent(ledger, await storedEventUnder(ledger, reference), { by: "ada", why: "ticket 7" });
        await escalateAfterFlight();
        expect(await storedEvents(reference)).toMatchObject([{ state: "discarded" }]);
        await apply(enqueueMessageOf(ledger, { ...sent, refusals: 2 }, { kind: "data", network_id: 1, plan_id: 101 }));
        await sendAgain();
        await escalateAfterFlight();
        const states = (await storedEvents(reference)).map(({ state }) => state).toSorted();
        expect(states).toEqual(["discarded", "open"]);
      },
    );

    test.each([
      ["claimed", "processing", { kind: "retry", reason: "order_in_flight", afterS: 39 }],
      ["claimed and delivered", "success", done("contradiction")],
    ] as const)(
      "refunds nothing if it was read while the order waited, and the order was %s since",
      async (_what, status, outcome) => {
        const { event, sendAgain, stored, balance } = await aRefusedOrder();
        beforeNext(ledger.db, "transactWrite", async () => {
          const sent = await sendAgain();
          if (status === "success") await settleTransaction(ledger, sent, { status }, deadlineIn(20_000));
        });
        expect(await apply(event)).toEqual(outcome);
        expect(await stored()).toMatchObject({ status });
        expect(await balance()).toBe(1_500);
      },
    );

    test("contradicts it once its second request has delivered it", async () => {
      const { event, sendAgain, balance } = await aRefusedOrder();
      await settleTransaction(ledger, await sendAgain(), { status: "success" }, deadlineIn(20_000));
      expect(await apply(event)).toEqual(done("contradiction"));
      expect(await balance()).toBe(1_500);
    });

    test("refunds it if it is under the reference that the upstream gave that request", async () => {
      const { sendAgain, balance } = await aRefusedOrder();
      const processing = { status: "processing", upstream_reference: `U-${randomUUID()}` } as const;
      await settleTransaction(ledger, await sendAgain(), processing, deadlineIn(20_000));
      const event = await anEvent({ reference: processing.upstream_reference, status: "failed" });
      expect(await apply(event)).toEqual(done("applied"));
      expect(await balance()).toBe(2_000);
    });
  });

  test("a failed of an order that only waited for the upstream's limit refunds it at once", async () => {
    const { transaction, reference, balance } = await anOwnOrder();
    await apply(enqueueMessageOf(ledger, transaction, { kind: "data", network_id: 1, plan_id: 101 }));
    await claimAsSender(ledger, await storedQueued(ledger, transaction.pk));
    expect(await apply(await anEvent({ reference, status: "failed" }))).toEqual(done("applied"));
    expect(await balance()).toBe(2_000);
  });

  test("a success does not charge a check without a result: it waits for the check's end, and then contradicts it", async () => {
    const check = await anOwnOrder({ type: "nin_verification" });
    const event = await anEvent({ reference: check.reference, type: "nin_verification" });
    expect(await apply(event)).toEqual({ kind: "retry", reason: "check_open", afterS: 5 });
    ledger.nowMs += DECISION_AGE_MS;
    expect(await apply(event)).toEqual({ kind: "retry", reason: "check_open", afterS: 60 });
    expect(await check.stored()).toEqual(check.transaction);
    await settleTransaction(ledger, check.transaction, NOT_DELIVERED, deadlineIn(20_000));
    expect(await apply(event)).toEqual(done("contradiction"));
    expect(await check.balance()).toBe(2_000);
  });

  test("a success of a check that has returned its result is a duplicate, and a failed refunds an open one", async () => {
    const returned = await anOwnOrder({ type: "bvn_retrieval" });
    await settleTransaction(ledger, returned.transaction, { status: "success" }, deadlineIn(20_000));
    expect(await apply(await anEvent({ reference: returned.reference }))).toEqual(done("duplicate"));
    const open = await anOwnOrder({ type: "bvn_retrieval" });
    const failed = await anEvent({ reference: open.reference, status: "failed" });
    expect(await apply(failed)).toEqual(done("applied"));
    expect(await open.balance()).toBe(2_000);
  });

  test("our own reference with the prefix of another type is an unknown reference", async () => {
    const order = await anOwnOrder();
    const reference = order.reference.replace("DATA_", "AIRTIME_");
    expect(await apply(await anEvent({ reference }))).toMatchObject({ kind: "retry", reason: "reference_unknown" });
    expect(await order.stored()).toMatchObject({ status: "processing" });
  });

  test("an upstream reference with the form of our own is retried and then matched like any unknown reference", async () => {
    const phoneNumber = aPhoneNumber();
    const order = await anOrder({ phone_number: phoneNumber });
    const reference = `DATA_${(await aTransactionPk()).slice("transaction#".length)}`;
    const event = await anEvent({ reference, phoneNumber });
    expect(await apply(event)).toMatchObject({ kind: "retry", reason: "reference_unknown" });
    ledger.nowMs += DECISION_AGE_MS;
    expect(await apply(event)).toEqual(done("matched"));
    expect(await order.stored()).toMatchObject({ status: "success", upstream_reference: reference });
  });
});

describe("events under an unknown reference", () => {
  test.each([
    [0, 5],
    [4_500, 1],
    [4_999, 1],
    [5_000, 25],
    [29_999, 1],
    [30_000, 150],
    [179_000, 1],
    [179_999, 1],
    [180_000, 180],
    [359_999, 1],
  ])("an event of %i ms with an unknown reference is retried after %i s", async (ageMs, afterS) => {
    const event = await anEvent();
    ledger.nowMs += ageMs;
    expect(await apply(event)).toEqual({ kind: "retry", reason: "reference_unknown", afterS });
  });
});

describe("unreadable events", () => {
  const anUnreadable = (changes: Partial<UnreadableMessage> = {}): UnreadableMessage => ({
    kind: "unreadable_event",
    mode: "live",
    digest: randomBytes(32).toString("base64url"),
    reference: `U-${randomUUID()}`,
    problem: "status reversed",
    ...changes,
  });
  const storedFor = async ({ digest }: UnreadableMessage) => findEvent(ledger, `event_${digest.slice(0, 32)}`);

  test("each copy of an event raises the alarm while the event waits for an operator, and none once it is decided", async () => {
    const old = { received_at: isoTime(NOON_MS - DECISION_AGE_MS) };
    const reference = `U-${randomUUID()}`;
    for (const message of [anUnreadable({ reference }), await anEvent({ ...old, status: "failed", reference })]) {
      const alarms = async () => (await logOf(message, message)).filter(({ Alarms }) => Alarms === 1).length;
      expect(await alarms()).toBe(2);
      const open = (await storedEvents(reference)).filter(({ state }) => state === "open");
      for (const event of open) await discardEvent(ledger, event, { by: "ada", why: "ticket 7" });
      expect(await alarms()).toBe(0);
    }
  });

  test("an unreadable event is stored with its order, raises an alarm with the order's reference, and settles nothing", async () => {
    const message = anUnreadable();
    const { transaction, stored } = await anOrder({ upstream_reference: message.reference });
    expect(await logOf(message)).toMatchObject([
      {
        event: "upstream_event.escalated",
        Alarms: 1,
        reason: "unreadable",
        problem: "status reversed",
        upstream_reference: message.reference,
        transaction: referenceOf(transaction),
      },
    ]);
    expect(await apply(message)).toEqual(done("unreadable"));
    expect(await storedFor(message)).toMatchObject({ state: "open", transaction_pk: transaction.pk });
    expect((await stored())?.status).toBe("processing");
  });

  test("an unreadable event is stored with the order of our own reference, and alone if none or two have its reference", async () => {
    const { transaction } = await anOrder({ pk: await aTransactionPk() });
    const twice = `U-${randomUUID()}`;
    for (let copy = 0; copy < 2; copy += 1) await anOrder({ upstream_reference: twice });
    for (const [reference, about] of [
      [referenceOf(transaction), transaction.pk],
      [undefined, undefined],
      ["U-unknown", undefined],
      [twice, undefined],
    ] as const) {
      const message = anUnreadable({ reference });
      await apply(message);
      const event = await storedFor(message);
      expect(event, reference).toMatchObject({ reason: "unreadable", state: "open" });
      expect(event?.transaction_pk, reference).toBe(about);
    }
  });
});
