import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { getItem } from "../../../../shared/ledger/get-item.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import { refundSchema } from "../../../../shared/ledger/refund.ts";
import { queuedOrders, refundPk, refundsList, walletPk } from "../../../../shared/ledger/schema.ts";
import {
  type Settlement,
  settleAsRead,
  settleByAnswer,
  settleByHeuristicMatch,
  settledTransaction,
  settleTransaction,
} from "../../../../shared/ledger/settle-transaction.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { noteEvent, readUpstreamReference } from "../../../../shared/ledger/upstream-reference.ts";
import { readKeyUsages } from "../../../../shared/ledger/usage.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { emulatorClient } from "../../../builders/dynamodb/tables.ts";
import { faultyLedgerForTests, TRIES } from "../../../builders/ledger/faulty-ledger.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";
import { startScriptedServer } from "../../../builders/network/scripted-server.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

/**
 * Goal: whatever a settling write meets, it is applied once or not at all, and its result is what happened or that this
 * is indeterminate. Method: faults on the wire to the emulator, and a clock that stands still unless a test moves it,
 * so that nothing here waits.
 */
const ledger = await faultyLedgerForTests();

/** Enough time for every retry. */
const enough = (): Deadline => deadlineIn(29_000);

const failed: Settlement = { status: "failed", failure: { code: "delivery_failed" } };
/** Time for one attempt, and just not enough for another. */
const lastRound = (): Deadline => {
  const answersMs = [20_000];
  return { remainingMs: () => answersMs.shift() ?? 3_500 };
};

describe("settleTransaction", () => {
  test("a settlement is applied once, with the upstream's facts", async () => {
    const transaction = await ledger.anOpenTransaction();
    const settlement: Settlement = { status: "success", upstream_reference: "U1" };
    ledger.nowMs += 5_000;
    ledger.proxy.calls.length = 0;
    expect(await settleTransaction(ledger, transaction, settlement, enough())).toEqual({ kind: "applied" });
    // A transaction of writes costs twice as much.
    expect(ledger.proxy.calls.map(({ operation }) => operation)).toEqual(["UpdateItem"]);
    const settled = { ...settledTransaction(transaction, settlement), updated_at: isoTime(NOON_MS + 5_000) };
    expect(await readTransaction(ledger, transaction.pk)).toEqual(settled);
    expect(await settleTransaction(ledger, transaction, failed, enough())).toEqual({
      kind: "already_settled",
      transaction: settled,
    });
    expect(await ledger.balanceOf(transaction.account_id)).toBe(0);
  });

  test("a settlement writes no attribute for facts that are unknown", async () => {
    const transaction = await ledger.anOpenTransaction();
    const settlement: Settlement = {
      status: "success",
      upstream_reference: undefined,
      upstream_amount_kobo: undefined,
    };
    expect(await settleTransaction(ledger, transaction, settlement, enough())).toEqual({ kind: "applied" });
    expect(await readTransaction(ledger, transaction.pk)).not.toHaveProperty("upstream_reference");
  });

  test("a failure without a wallet to refund leaves the transaction open, and is logged", async () => {
    const log = captureLog();
    const transaction = await ledger.anOpenTransaction();
    const gone = { ...transaction, account_id: "acc_without_wallet" };
    const refused = { kind: "indeterminate", isFault: true };
    expect(await settleTransaction(ledger, gone, failed, lastRound())).toEqual(refused);
    expect(await readTransaction(ledger, transaction.pk)).toEqual(transaction);
    expect(log.text()).toContain(transaction.write_token);
  });

  test("a lost answer is logged, and a conflict and a second settlement are not", async () => {
    const log = captureLog();
    const [other, transaction] = [await ledger.anOpenTransaction(), await ledger.anOpenTransaction()];
    ledger.firstWrites(1, "conflict");
    await settleTransaction(ledger, other, failed, enough());
    await settleTransaction(ledger, other, failed, enough());
    expect(log.text()).toBe("");
    ledger.firstWrites(1, "never_arrives");
    await settleTransaction(ledger, transaction, failed, enough());
    expect(log.text()).toContain(transaction.write_token);
  });

  test("a settlement as `processing` records the upstream reference and leaves the transaction open", async () => {
    const transaction = await ledger.anOpenTransaction();
    const settlement: Settlement = { status: "processing", upstream_reference: "U1" };
    expect(await settleTransaction(ledger, transaction, settlement, enough())).toEqual({ kind: "applied" });
    expect(await readTransaction(ledger, transaction.pk)).toMatchObject({
      status: "processing",
      open: expect.stringMatching(/^live#[0-9A-Z]$/),
    });
  });

  test("a failed live transaction is refunded once", async () => {
    const transaction = await ledger.anOpenTransaction();
    expect(await settleTransaction(ledger, transaction, failed, enough())).toEqual({ kind: "applied" });
    expect(await settleTransaction(ledger, transaction, failed, enough())).toMatchObject({ kind: "already_settled" });
    expect(await readWallet(ledger, transaction.account_id)).toMatchObject({ balance_kobo: 50_000, version: 2 });
    const { account_id, amount_kobo } = transaction;
    expect(await getItem(ledger, refundPk(transaction), refundSchema)).toEqual({
      ...{ pk: refundPk(transaction), list_key: refundsList(account_id), account_id, amount_kobo },
      created_at: isoTime(NOON_MS),
    });
  });

  test("a test transaction fails without a wallet", async () => {
    const transaction = ledger.aTransaction("acc_without_wallet", { mode: "test" });
    await openTransaction(ledger, transaction, [], enough());
    expect(await settleTransaction(ledger, transaction, failed, enough())).toEqual({ kind: "applied" });
  });

  test.each([
    ["another write token", { write_token: "another" }],
    ["the other mode", { mode: "test" as const }],
  ])("a settlement for %s of the same order is not applied", async (_name, changes) => {
    const transaction = await ledger.anOpenTransaction();
    const settlement = await settleTransaction(ledger, { ...transaction, ...changes }, { status: "success" }, enough());
    expect(settlement).toEqual({ kind: "already_settled", transaction });
  });

  test("a heuristic match settles an order without an upstream reference, and none that has one or was reported as failed", async () => {
    const settlement: Settlement = { status: "success", upstream_reference: `U-${randomUUID()}` };
    const transaction = await ledger.anOpenTransaction();
    expect(await settleByHeuristicMatch(ledger, transaction, settlement, enough())).toBe(true);
    expect(await readTransaction(ledger, transaction.pk)).toMatchObject(settlement);
    const withReference = await ledger.anOpenTransaction({ upstream_reference: "U2" });
    const another: Settlement = { status: "success", upstream_reference: `U-${randomUUID()}` };
    expect(await settleByHeuristicMatch(ledger, withReference, another, enough())).toBe(false);
    expect(await readTransaction(ledger, withReference.pk)).toEqual(withReference);
    const reported: Settlement = { status: "success", upstream_reference: `U-${randomUUID()}` };
    await noteEvent(ledger, reported.upstream_reference ?? "", "failed", "event#1");
    const contradicted = await ledger.anOpenTransaction();
    expect(await settleByHeuristicMatch(ledger, contradicted, reported, enough())).toBe(false);
    expect(await settleByAnswer(ledger, contradicted, reported, {}, enough())).toEqual({ kind: "applied" });
  });

  test("an answer settles the sending that it is about, and only with an upstream reference that is no other order's", async () => {
    const [one, other] = [await ledger.anOpenTransaction({ claim: "first" }), await ledger.anOpenTransaction()];
    const settlement: Settlement = { status: "success", upstream_reference: `U-${randomUUID()}` };
    const settle = async (transaction: Transaction, claim?: string, as = settlement, deadline = enough()) =>
      (await settleByAnswer(ledger, transaction, as, claim === undefined ? {} : { claim }, deadline)).kind;
    expect([await settle(one, "second"), await settle(one)]).toEqual(["refused", "refused"]);
    expect(await readTransaction(ledger, one.pk)).toEqual(one);
    expect(await settle(one, "first")).toBe("applied");
    expect([await settle(other), await settle(other, "first", { status: "success" })]).toEqual(["refused", "refused"]);
    ledger.proxy.fault = () => "conflict";
    expect(await settle(other, undefined, settlement, lastRound())).toBe("indeterminate");
    ledger.proxy.fault = () => undefined;
    expect(await readTransaction(ledger, other.pk)).toEqual(other);
    expect(await settle(other, undefined, { status: "success" })).toBe("applied");
    expect(await readUpstreamReference(ledger, "")).toBeUndefined();
    const named = await ledger.anOpenTransaction({ upstream_reference: "U5" });
    expect(await settle(named, undefined, { status: "success", upstream_reference: `U-${randomUUID()}` })).toBe(
      "refused",
    );
  });

  test("a refund to a closed account is not written, and its order stays open", async () => {
    const transaction = await ledger.anOpenTransaction();
    await changeItem(ledger, walletPk(transaction.account_id), { closed: true });
    const seen = ledger.firstWrites(0, "conflict");
    const refused = { kind: "indeterminate", isFault: true };
    expect(await settleTransaction(ledger, transaction, failed, enough())).toEqual(refused);
    expect(seen.writes).toBe(1);
    expect(await readTransaction(ledger, transaction.pk)).toEqual(transaction);
    expect(await ledger.balanceOf(transaction.account_id)).toBe(0);
  });

  test.each([
    ["account and key", { account: { day_orders: 9 }, key: { day_orders: 9 } }, [0, 0]],
    ["account", { account: { day_orders: 9 } }, [0, undefined]],
    ["key", { key: { day_orders: 9 } }, [undefined, 0]],
  ] as const)("a refund gives back what was counted for its %s", async (_name, limits, left) => {
    const order = ledger.aTransaction(await ledger.aWallet(500), { key_id: `key_${randomUUID()}` });
    await openTransaction(ledger, order, [], enough(), { limits: { limits, timeZone: "Africa/Lagos" } });
    const counters = async () => [
      (await readWallet(ledger, order.account_id)).day_orders,
      (await readKeyUsages(ledger, [order.key_id]))[0]?.day_orders,
    ];
    expect(await counters()).toEqual(left.map((each) => (each === undefined ? undefined : 1)));
    const stored = await readTransaction(ledger, order.pk);
    expect(await settleTransaction(ledger, stored ?? order, failed, enough())).toEqual({ kind: "applied" });
    expect(await counters()).toEqual(left);
    expect(await ledger.balanceOf(order.account_id)).toBe(500);
  });

  describe("of an order that began to wait since it was read", () => {
    const aQueued = async () => {
      const read = await ledger.anOpenTransaction();
      const order = { kind: "airtime", network: "mtn" } as const;
      const place = { open: queuedOrders(read.account_id), queued: { order, table: ledger.table, number: 7 } };
      const transaction = { ...read, ...place };
      await ledger.db.put({ TableName: ledger.table, Item: transaction });
      return { read, transaction };
    };

    test.each([
      ["failed", failed, 500],
      ["success", { status: "success" }, 0],
    ] as const)("as %s ends its wait, and its number leaves the queue", async (status, settlement, naira) => {
      const { read } = await aQueued();
      expect(await settleTransaction(ledger, read, settlement, enough())).toEqual({ kind: "applied" });
      const stored = await readTransaction(ledger, read.pk);
      expect([stored?.status, stored?.queued, stored?.open]).toEqual([status, undefined, undefined]);
      const { balance_kobo, queue_gaps, version } = await readWallet(ledger, read.account_id);
      expect([balance_kobo / 100, queue_gaps, version]).toEqual([naira, new Set([7]), naira === 0 ? 1 : 2]);
    });

    test("as read is not written, nor one as `processing`, nor one whose time is up", async () => {
      const { read, transaction } = await aQueued();
      const settled = { kind: "already_settled", transaction };
      expect(await settleAsRead(ledger, read, failed, enough())).toEqual(settled);
      expect(await settleTransaction(ledger, read, { status: "processing" }, enough())).toEqual(settled);
      expect(await settleTransaction(ledger, { ...read, write_token: "another" }, failed, enough())).toEqual(settled);
      expect(await settleTransaction(ledger, { ...read, mode: "test" }, failed, enough())).toEqual(settled);
      expect(await settleTransaction(ledger, read, failed, lastRound())).toEqual({ kind: "indeterminate" });
      expect(await readTransaction(ledger, read.pk)).toEqual(transaction);
    });

    test("as `processing` keeps its place in the queue", async () => {
      const { transaction } = await aQueued();
      const settlement: Settlement = { status: "processing", upstream_reference: "U1" };
      expect(await settleTransaction(ledger, transaction, settlement, enough())).toEqual({ kind: "applied" });
      expect(await readTransaction(ledger, transaction.pk)).toEqual({
        ...{ ...transaction, upstream_reference: "U1", updated_at: isoTime(NOON_MS) },
      });
      expect(await readWallet(ledger, transaction.account_id)).not.toHaveProperty("queue_gaps");
    });
  });

  test.each([["conflict"], ["answer_lost"], ["never_arrives"]] as const)(
    "a failure whose first attempt meets %s is refunded once",
    async (fault) => {
      const transaction = await ledger.anOpenTransaction();
      const seen = ledger.firstWrites(1, fault);
      const settlement = await settleTransaction(ledger, transaction, failed, enough());
      expect(settlement.kind).toBe(fault === "answer_lost" ? "already_settled" : "applied");
      expect(seen.writes).toBe(fault === "conflict" ? 2 : TRIES + 1);
      expect(await ledger.balanceOf(transaction.account_id)).toBe(500);
    },
  );

  test("a settlement with time for one attempt is tried once, and then indeterminate", async () => {
    const transaction = await ledger.anOpenTransaction();
    const seen = ledger.firstWrites(99, "conflict");
    expect(await settleTransaction(ledger, transaction, failed, lastRound())).toEqual({ kind: "indeterminate" });
    expect(seen.writes).toBe(1);
  });

  test("a deadline may be a fraction of a millisecond", async () => {
    const transaction = await ledger.anOpenTransaction();
    const settlement = await settleTransaction(ledger, transaction, failed, { remainingMs: () => 9_000.5 });
    expect(settlement).toEqual({ kind: "applied" });
  });

  test("a settlement is aborted with 3.5 s left if the table does not answer", async () => {
    const { baseUrl } = await startScriptedServer(() => undefined);
    const db = emulatorClient(baseUrl);
    const deadline = deadlineIn(3_700);
    const settlement = await settleTransaction({ ...ledger, db }, aTransaction(), failed, deadline);
    expect(settlement).toEqual({ kind: "indeterminate" });
    expect(deadline.remainingMs()).toBeGreaterThan(2_000);
  });
});
