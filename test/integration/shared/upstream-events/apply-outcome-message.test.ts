import { randomUUID } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import { transactionPk, walletPk } from "../../../../shared/ledger/schema.ts";
import { NOT_DELIVERED } from "../../../../shared/ledger/settle-transaction.ts";
import { referenceOf, type Transaction } from "../../../../shared/ledger/transaction.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import type { OutcomeMessage, SettlementMessage } from "../../../../shared/orders/outcome-message.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { enqueueMessageOf } from "../../../../shared/queued-orders/enqueue-or-defer.ts";
import { DECISION_AGE_MS } from "../../../../shared/upstream-events/apply-upstream-event.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { faultyLedgerForTests, isWrite } from "../../../builders/ledger/faulty-ledger.ts";
import { claimedAsSender, queuedCount, storedQueued } from "../../../builders/ledger/queued-order.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { appliedTo } from "../../../builders/upstream/applied-message.ts";
import {
  anEvent,
  anUnauthenticatedEvent,
  aPhoneNumber,
  aTransactionPk,
} from "../../../builders/upstream/event-message.ts";

/**
 * Goal: a message settles exactly the transaction that it is about, once; one that cannot be applied now is received again.
 */
const ledger = await faultyLedgerForTests();

const done = (outcome: string) => ({ kind: "done", outcome });

const { apply, anOrder, callsOf, logOf } = appliedTo(ledger);

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
