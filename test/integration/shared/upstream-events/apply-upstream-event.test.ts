import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { koboFromNaira } from "../../../../shared/contract/money.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { withMaskedPhone } from "../../../../shared/ledger/masked-transaction.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import { transactionPk, walletPk } from "../../../../shared/ledger/schema.ts";
import { NOT_DELIVERED, settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { ERASED_FINGERPRINT, referenceOf, type Transaction } from "../../../../shared/ledger/transaction.ts";
import { upstreamCosts } from "../../../../shared/ledger/upstream-costs.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import type {
  OutcomeMessage,
  SettlementMessage,
  UnreadableMessage,
} from "../../../../shared/orders/outcome-message.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { enqueueMessageOf } from "../../../../shared/queued-orders/enqueue-or-defer.ts";
import { applyOutcomeMessage, DECISION_AGE_MS } from "../../../../shared/upstream-events/apply-upstream-event.ts";
import { discardEvent } from "../../../../shared/upstream-events/operator-resolution.ts";
import { findEvent } from "../../../../shared/upstream-events/stored-event.ts";
import { beforeNext } from "../../../builders/another-process.ts";
import { captureLog } from "../../../builders/captured-log.ts";
import { changeItem } from "../../../builders/change-item.ts";
import {
  anEvent,
  anOpenOrder,
  anUnauthenticatedEvent,
  aPhoneNumber,
  aTransactionPk,
  authenticated,
  storedEventUnder,
  storedUnder,
} from "../../../builders/event-message.ts";
import { faultyLedgerForTests, isWrite } from "../../../builders/faulty-ledger.ts";
import { NOON_MS } from "../../../builders/noon.ts";
import { claimAsSender, claimedAsSender, queuedCount, storedQueued } from "../../../builders/queued-order.ts";
import { keyedHashes } from "../../../builders/secrets.ts";
import { FACE_VALUES } from "../../../builders/upstream-costs.ts";

/**
 * Goal: a message settles exactly the transaction that it is about, once, and an event that is not applied is stored.
 */
const ledger = await faultyLedgerForTests();

const done = (outcome: string) => ({ kind: "done", outcome });
const apply = (message: OutcomeMessage, deadline = deadlineIn(20_000)) =>
  applyOutcomeMessage({ ledger, keyedHashes, costs: FACE_VALUES })(message, deadline);
const anOrder = (changes: Partial<Transaction> = {}) => anOpenOrder(ledger, changes);
const storedEvents = (reference: string) => storedUnder(ledger, reference);

/** What the ledger's table is asked while the message is applied. */
const callsOf = async (message: OutcomeMessage): Promise<readonly string[]> => {
  ledger.proxy.calls.length = 0;
  await apply(message);
  return ledger.proxy.calls.map(({ operation }) => operation);
};

/** The lines that are logged while the messages are applied, one after another. */
const logOf = async (...messages: readonly OutcomeMessage[]) => {
  const log = captureLog();
  for (const message of messages) await apply(message);
  return log.lines();
};
const amountsAlerted = async (...messages: readonly OutcomeMessage[]): Promise<readonly unknown[]> =>
  (await logOf(...messages)).flatMap(({ event, theirs }) => (event === "transaction.amount_differs" ? [theirs] : []));

describe("settlements of the service", () => {
  const settlementOf = (transaction: Transaction, changes: Partial<SettlementMessage> = {}): SettlementMessage => ({
    kind: "settlement",
    mode: transaction.mode,
    transaction_pk: transaction.pk,
    write_token: transaction.write_token,
    settlement: { status: "success" },
    ...changes,
  });

  test("a settlement settles its order, and its copy is a duplicate that writes nothing", async () => {
    const { transaction, stored } = await anOrder();
    expect(await apply(settlementOf(transaction))).toEqual(done("applied"));
    expect((await stored())?.status).toBe("success");
    expect(await apply(settlementOf(transaction))).toEqual(done("duplicate"));
    expect(await callsOf(settlementOf(transaction))).toEqual(["GetItem"]);
  });

  test.each([
    [
      "an order that the ledger lacks",
      { transaction_pk: transactionPk("0123456789ABCDEFGHJKMNPQRT") },
      "no_such_transaction",
    ],
    ["another write token", { write_token: "another" }, "another_transaction"],
    ["the other mode", { mode: "test" as const }, "another_transaction"],
  ])("a settlement of %s is dropped", async (_name, changes, outcome) => {
    const { transaction, stored } = await anOrder();
    expect(await apply(settlementOf(transaction, changes))).toEqual(done(outcome));
    expect((await stored())?.status).toBe("processing");
  });

  test("a settlement that contradicts a final status is not applied and raises an alarm", async () => {
    const { transaction, stored } = await anOrder();
    await apply(settlementOf(transaction));
    const contrary = settlementOf(transaction, {
      settlement: { status: "failed", failure: { code: "delivery_failed" } },
    });
    expect(JSON.stringify(await logOf(contrary))).toContain(referenceOf(transaction));
    expect(await apply(contrary)).toEqual(done("contradiction"));
    expect((await stored())?.status).toBe("success");
  });
});

describe("the end of an indeterminate debit", () => {
  const unmade = async (): Promise<Transaction> => ledger.aTransaction(await ledger.aWallet(500));
  const voidOf = (item: Transaction): OutcomeMessage => ({ kind: "void", item });

  test("is void where the debit was not made, which then can no longer be made; a copy changes nothing", async () => {
    const transaction = await unmade();
    expect(await apply(voidOf(transaction))).toEqual(done("void"));
    const stored = await readTransaction(ledger, transaction.pk);
    expect(stored).toMatchObject({ status: "failed", failure: { code: "delivery_failed" }, debit: "void" });
    expect(await apply(voidOf(transaction))).toEqual(done("duplicate"));
    expect(await openTransaction(ledger, transaction, [], deadlineIn(20_000))).toMatchObject({ kind: "void" });
    expect(await readTransaction(ledger, transaction.pk)).toEqual(stored);
    expect(await ledger.balanceOf(transaction.account_id)).toBe(500);
  });

  test("is the refund of a debit that was made, once", async () => {
    const { transaction, stored } = await anOrder();
    expect(await apply(voidOf(transaction))).toEqual(done("applied"));
    expect(await stored()).toMatchObject({ status: "failed", failure: { code: "delivery_failed" } });
    expect(await stored()).not.toHaveProperty("debit");
    expect(await apply(voidOf(transaction))).toEqual(done("duplicate"));
    expect(await readWallet(ledger, transaction.account_id)).toMatchObject({ balance_kobo: 200_000, version: 2 });
  });

  test("leaves another request's order with the same reference as it is", async () => {
    const { transaction, stored } = await anOrder();
    expect(await apply(voidOf({ ...transaction, write_token: randomUUID() }))).toEqual(done("another_transaction"));
    expect(await stored()).toEqual(transaction);
  });

  test("is retried until the ledger answers", async () => {
    const transaction = await unmade();
    ledger.proxy.fault = ({ operation }) => (operation === "PutItem" ? "never_arrives" : undefined);
    expect(await apply(voidOf(transaction))).toEqual({ kind: "retry", reason: "write_indeterminate" });
    ledger.reset();
    expect(await apply(voidOf(transaction))).toEqual(done("void"));
  });
});

describe("answers of the upstream to a question for an order", () => {
  type Answer = Extract<OutcomeMessage, { readonly kind: "answer"; readonly finding: "outcome" | "another_order" }>;
  const answerOf = (transaction: Transaction, changes: Partial<Answer> = {}): Answer => ({
    ...{ kind: "answer", mode: "live", transaction_pk: transaction.pk, write_token: transaction.write_token },
    ...{ finding: "outcome", event: { reference: referenceOf(transaction), status: "success" } },
    ...changes,
  });
  const notFound = ({ finding: _finding, event, ...target }: Answer): OutcomeMessage => ({
    ...target,
    finding: "not_found",
    reference: event.reference,
  });
  const aSandboxOrder = () => anOrder({ mode: "test", open: undefined });

  test.each<[string, () => ReturnType<typeof anOrder>, Partial<Answer>, string]>([
    ["an order that the ledger lacks", anOrder, { transaction_pk: transactionPk("0") }, "no_such_transaction"],
    ["another write token", anOrder, { write_token: "another" }, "another_transaction"],
    ["an order of the sandbox", aSandboxOrder, {}, "another_transaction"],
    ["an earlier sending of the order", anOrder, { claim: "earlier" }, "another_sending"],
  ])("an answer about %s is dropped", async (_name, made, changes, outcome) => {
    const { transaction, stored } = await made();
    expect(await apply(answerOf(transaction, changes))).toEqual(done(outcome));
    expect(await stored()).toEqual(transaction);
  });

  test("an answer settles its order once, and only one that needs a person raises an alarm", async () => {
    const { transaction, stored } = await anOrder();
    const { reference } = answerOf(transaction).event;
    const anotherOrder = answerOf(transaction, { finding: "another_order" });
    const findings = [notFound(answerOf(transaction)), anotherOrder];
    expect(await logOf(...findings)).toMatchObject(
      ["not_found", "another_order"].map((reason) => ({
        ...{ event: "upstream_event.escalated", reason, upstream_reference: reference, transaction: reference },
      })),
    );
    expect(await apply(answerOf(transaction))).toEqual(done("applied"));
    expect(await stored()).toMatchObject({ status: "success", reported_by: "lookup" });
    expect(await stored()).not.toHaveProperty("upstream_reference");
    for (const late of [...findings, answerOf(transaction)]) {
      expect(await apply(late)).toEqual(done("duplicate"));
      expect(await callsOf(late)).not.toContain("UpdateItem");
    }
  });

  test("the alarm about an event has no phone number that the upstream's reference has", async () => {
    const { transaction } = await anOrder();
    const event = { reference: `U-08031234567-${randomUUID()}`, status: "failed" } as const;
    expect(await logOf(answerOf(transaction, { finding: "another_order", event }))).toMatchObject([
      { event: "upstream_event.escalated", upstream_reference: expect.stringMatching(/^U-\*{9}67-/) },
    ]);
  });

  test("an answer under the upstream's reference records it, and refunds nothing if another order has it", async () => {
    const event = { reference: `U-${randomUUID()}`, status: "failed" } as const;
    const [own, other] = [await anOrder(), await anOrder()];
    expect(await apply(answerOf(own.transaction, { event }))).toEqual(done("applied"));
    expect(await own.stored()).toMatchObject({ status: "failed", upstream_reference: event.reference });
    expect(await apply(answerOf(other.transaction, { event }))).toEqual(done("another_order"));
    expect(await other.balance()).toBe(1_500);
    const known = await anOrder({ upstream_reference: `U-${randomUUID()}` });
    const ofKnown = { reference: known.transaction.upstream_reference ?? "", status: "failed" } as const;
    expect(await apply(answerOf(other.transaction, { event: ofKnown }))).toEqual(done("another_order"));
    expect(await other.balance()).toBe(1_500);
    expect(await apply(answerOf(known.transaction, { event: ofKnown }))).toEqual(done("applied"));
  });

  test("a failed of an order that was sent again after a 429 about it is for a person, unless its reference is that of the last sending", async () => {
    const again = { claim: "last", refusals: 1, sent_at: isoTime(NOON_MS - 20_000) };
    for (const [isKnown, isTheirs, outcome] of [
      [false, false, "sent_again"],
      [false, true, "sent_again"],
      [true, false, "sent_again"],
      [true, true, "applied"],
    ] as const) {
      const theirs = `U-${randomUUID()}`;
      const known = isKnown ? { upstream_reference: theirs } : {};
      const { transaction, balance } = await anOrder({ pk: await aTransactionPk(), ...again, ...known });
      const event = { reference: isTheirs ? theirs : referenceOf(transaction), status: "failed" } as const;
      expect(await apply(answerOf(transaction, { claim: "last", event }))).toEqual(done(outcome));
      expect(await balance()).toBe(outcome === "applied" ? 2_000 : 1_500);
    }
  });

  test("an order that the upstream does not know is a case again after its next sending", async () => {
    const { transaction } = await anOrder({ claim: "first" });
    const event = { reference: `U-${randomUUID()}`, status: "success" } as const;
    for (const claim of ["first", "first", "second"]) {
      await changeItem(ledger, transaction.pk, { claim });
      expect(await apply(notFound(answerOf(transaction, { event, claim })))).toEqual(done("not_found"));
    }
    expect(await storedEvents(event.reference)).toHaveLength(2);
  });

  test("an answer about a sending before that settles nothing is no case for a person, also while the order waits", async () => {
    const { transaction } = await anOrder({ claim: "first" });
    const event = { reference: `U-${randomUUID()}`, status: "success" } as const;
    const answer = answerOf(transaction, { event, claim: "first", finding: "another_order" });
    const order = { kind: "data", network_id: 1, plan_id: 101 } as const;
    await changeItem(ledger, transaction.pk, { queued: { order, table: ledger.table, number: 1 } });
    expect(await apply(notFound(answer))).toEqual(done("another_sending"));
    await changeItem(ledger, transaction.pk, { queued: undefined, claim: "second" });
    expect(await apply(notFound(answer))).toEqual(done("another_sending"));
    expect(await apply(answer)).toEqual(done("another_sending"));
    expect(await storedEvents(event.reference)).toEqual([]);
  });

  test("orders that the upstream does not know are a case each, although it was asked by one reference", async () => {
    const orders = [await anOrder(), await anOrder()];
    const event = { reference: `U-${randomUUID()}`, status: "success" } as const;
    for (const { transaction } of orders) {
      expect(await apply(notFound(answerOf(transaction, { event })))).toEqual(done("not_found"));
    }
    const about = orders.map(({ transaction }) => ({ reason: "not_found", transaction_pk: transaction.pk }));
    const stored = (await storedEvents(event.reference)).map(({ reason, transaction_pk }) => ({
      reason,
      transaction_pk,
    }));
    expect(stored).toEqual(expect.arrayContaining(about));
  });

  const failed = { status: "failed", failure: { code: "delivery_failed" } } as const;
  test.each<[string, Partial<Transaction>, string]>([
    ["settled the same", { status: "success" }, "duplicate"],
    ["settled otherwise", failed, "contradiction"],
    ["sent again", { claim: "later" }, "another_sending"],
  ])("an answer about an order that was %s since it was read is not applied", async (_name, changes, outcome) => {
    const { transaction, stored } = await anOrder();
    const settled = { ...transaction, ...changes };
    beforeNext(ledger.db, "update", () => ledger.db.put({ TableName: ledger.table, Item: settled }));
    expect(await apply(answerOf(transaction))).toEqual(done(outcome));
    expect(await stored()).toEqual(settled);
  });
});

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
    "an event about %s whose person was erased is stored with two digits of its number",
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

  test("an amount that the upstream's response had already raises no second alarm, and a third amount does", async () => {
    const event = await anEvent({ amount_kobo: koboFromNaira(520) });
    const { transaction } = await anOrder({ upstream_reference: event.reference });
    const settlement = { status: "processing", upstream_amount_kobo: koboFromNaira(520) } as const;
    await settleTransaction(ledger, transaction, settlement, deadlineIn(9_000));
    expect(await amountsAlerted(event)).toEqual([]);
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

test("in any sequence a settlement and events of one order, each twice, set one final status, and the balance agrees", async () => {
  for (const sequence of permutations([0, 1, 2, 3])) {
    const { transaction, balance, stored } = await anOrder({
      pk: await aTransactionPk(),
      phone_number: aPhoneNumber(),
    });
    const upstreamReference = `U-${randomUUID()}`;
    const messages: readonly OutcomeMessage[] = [
      {
        kind: "settlement",
        mode: "live",
        transaction_pk: transaction.pk,
        write_token: transaction.write_token,
        settlement: { status: "processing", upstream_reference: upstreamReference },
      },
      await anEvent({ reference: upstreamReference }),
      await anEvent({ reference: referenceOf(transaction) }),
      await anEvent({ reference: upstreamReference, status: "failed" }),
    ];
    const queue = sequence.flatMap((position) => [messages[position], messages[position]]);
    const statuses: (string | undefined)[] = [];
    // A message that is to be retried comes again when it is too old for another retry.
    for (const nowMs of [NOON_MS, NOON_MS + DECISION_AGE_MS]) {
      ledger.nowMs = nowMs;
      for (const message of queue.splice(0)) {
        if (message === undefined) continue;
        if ((await apply(message)).kind === "retry") queue.push(message);
        statuses.push((await stored())?.status);
      }
    }
    expect(queue, String(sequence)).toEqual([]);
    const [final, ...changes] = [...new Set(statuses)].filter((status) => status !== "processing");
    expect(changes, String(sequence)).toEqual([]);
    expect(final, String(sequence)).toMatch(/^(success|failed)$/);
    expect(await balance(), String(sequence)).toBe(final === "success" ? 1_500 : 2_000);
  }
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

test("a message whose case for a person cannot be stored rejects, so that it is received again", async () => {
  const { transaction } = await anOrder({ upstream_reference: `U-${randomUUID()}` });
  const { pk: transaction_pk, write_token, upstream_reference: reference = "" } = transaction;
  const received_at = isoTime(NOON_MS - DECISION_AGE_MS);
  const cases: readonly OutcomeMessage[] = [
    { kind: "unreadable_event", mode: "live", digest: "d".repeat(43), problem: "status reversed" },
    { kind: "answer", mode: "live", transaction_pk, write_token, finding: "not_found", reference },
    await anEvent({ status: "failed", received_at }),
    await anUnauthenticatedEvent({ status: "failed", reference }),
  ];
  ledger.proxy.fault = ({ operation }) => (operation === "PutItem" ? "never_arrives" : undefined);
  for (const message of cases) await expect(apply(message), message.kind).rejects.toThrow();
});

/** One of each kind that settles this order. */
const settlingMessages = async (transaction: Transaction): Promise<readonly OutcomeMessage[]> => {
  const { pk: transaction_pk, write_token, upstream_reference: reference = "" } = transaction;
  const about = { mode: "live", transaction_pk, write_token } as const;
  return [
    { ...about, kind: "settlement", settlement: { status: "success" } },
    { ...about, kind: "answer", finding: "outcome", event: { reference, status: "success" } },
    await anEvent({ reference }),
  ];
};

test("a message whose write meets conflicts until the deadline is retried", async () => {
  const { transaction } = await anOrder({ upstream_reference: `U-${randomUUID()}` });
  const messages = await settlingMessages(transaction);
  ledger.proxy.fault = ({ operation }) => (isWrite(operation) ? "conflict" : undefined);
  for (const message of messages) {
    const retried = { kind: "retry", reason: "write_indeterminate" };
    expect(await apply(message, deadlineIn(0)), message.kind).toEqual(retried);
  }
});

/** As AWS answers where a policy was changed by hand. */
const refuseWrites = (): void => {
  const denied = Object.assign(new Error("denied"), { name: "AccessDeniedException" });
  for (const operation of ["transactWrite", "update", "put"] as const)
    vi.spyOn(ledger.db, operation).mockRejectedValue(denied);
};
const retriedSoon = { kind: "retry", reason: "write_indeterminate", afterS: 15 };

test("a message whose write is refused until a person acts returns after 15 seconds", async () => {
  const { transaction } = await anOrder({ upstream_reference: `U-${randomUUID()}` });
  const voided: OutcomeMessage = { kind: "void", item: ledger.aTransaction(transaction.account_id) };
  const messages = [...(await settlingMessages(transaction)), voided];
  refuseWrites();
  for (const message of messages) expect(await apply(message, deadlineIn(0)), message.kind).toEqual(retriedSoon);
});

test.each([
  ["closed", (pk: string) => changeItem(ledger, pk, { closed: true })],
  ["missing", (pk: string) => ledger.db.delete({ TableName: ledger.table, Key: { pk } })],
])("a refund to a wallet that is %s returns after 15 seconds", async (_name, change) => {
  const { transaction } = await anOrder();
  const { pk: transaction_pk, write_token } = transaction;
  await change(walletPk(transaction.account_id));
  const about = { mode: "live", transaction_pk, write_token } as const;
  expect(await apply({ ...about, kind: "settlement", settlement: NOT_DELIVERED })).toEqual(retriedSoon);
});

/** All sequences of some values. */
const permutations = <Value>(values: readonly Value[]): readonly (readonly Value[])[] =>
  values.length === 0
    ? [[]]
    : values.flatMap((value, index) => permutations(values.toSpliced(index, 1)).map((rest) => [value, ...rest]));

describe("a message that makes an order wait", () => {
  const order = { kind: "data", network_id: 1, plan_id: 101 } as const;
  const countOf = ({ account_id }: Transaction) => queuedCount(ledger, account_id);

  test("is applied once, and its copy is a duplicate", async () => {
    const { transaction } = await anOrder();
    const message = enqueueMessageOf(ledger, transaction, order);
    expect(await apply(message)).toEqual(done("applied"));
    expect(await apply(message)).toEqual(done("applied"));
    expect(await storedQueued(ledger, transaction.pk)).toMatchObject({ queued: { order } });
    expect(await countOf(transaction)).toBe(1);
  });

  test("is dropped at once if a restored ledger lacks the order", async () => {
    const { transaction } = await anOrder();
    const lacking = { ...transaction, pk: await aTransactionPk() };
    expect(await apply(enqueueMessageOf(ledger, lacking, order))).toEqual(done("no_such_transaction"));
    expect(await countOf(transaction)).toBe(0);
  });

  test("refunds an order that was never sent, once, if a later one of its account was claimed since", async () => {
    const { transaction, stored, balance } = await anOrder();
    await apply(enqueueMessageOf(ledger, transaction, order));
    const sent = await claimedAsSender(ledger, await storedQueued(ledger, transaction.pk));
    const claimed = { number: 1, turnUntil: isoTime(NOON_MS) };
    const overtaken = enqueueMessageOf(ledger, { ...sent, claimed }, order);
    for (const outcome of ["applied", "duplicate"]) {
      expect(await apply(overtaken)).toEqual(done(outcome));
      expect(await stored()).toMatchObject({ status: "failed", failure: { code: "delivery_failed" } });
      expect(await balance()).toBe(2_000);
    }
  });

  test.each([
    ["another write token", { write_token: "another" }],
    ["the other mode", { mode: "test" as const }],
  ])("for %s has no effect", async (_name, changes) => {
    const { transaction, stored } = await anOrder();
    expect(await apply({ ...enqueueMessageOf(ledger, transaction, order), ...changes })).toEqual(done("duplicate"));
    expect(await stored()).not.toHaveProperty("queued");
    expect(await countOf(transaction)).toBe(0);
  });

  test("is retried if it cannot be written", async () => {
    const { transaction } = await anOrder();
    ledger.firstWrites(99, "never_arrives");
    expect(await apply(enqueueMessageOf(ledger, transaction, order))).toEqual({
      kind: "retry",
      reason: "write_indeterminate",
    });
    refuseWrites();
    expect(await apply(enqueueMessageOf(ledger, transaction, order))).toEqual(retriedSoon);
  });
});
