import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { transactionPk } from "../../../../shared/ledger/schema.ts";
import { referenceOf, type Transaction } from "../../../../shared/ledger/transaction.ts";
import type { OutcomeMessage } from "../../../../shared/orders/outcome-message.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { beforeNext } from "../../../builders/dynamodb/another-process.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { faultyLedgerForTests } from "../../../builders/ledger/faulty-ledger.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { appliedTo } from "../../../builders/upstream/applied-message.ts";
import { aTransactionPk, storedUnder } from "../../../builders/upstream/event-message.ts";

/**
 * Goal: an answer to a question for an order settles that order alone, once, or is kept for a person.
 */
const ledger = await faultyLedgerForTests();

const done = (outcome: string) => ({ kind: "done", outcome });

const { apply, anOrder, callsOf, logOf } = appliedTo(ledger);

const storedEvents = (reference: string) => storedUnder(ledger, reference);

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
