import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import {
  type Settlement,
  settleByHeuristicMatch,
  settledTransaction,
  settlementWrites,
  settleTransaction,
} from "../../../../shared/ledger/settle-transaction.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { captureLog } from "../../../builders/captured-log.ts";
import { type FaultyLedger, openFaultyLedger, TRIES } from "../../../builders/faulty-ledger.ts";
import { NOON_MS } from "../../../builders/noon.ts";
import { emulatorClient } from "../../../builders/tables.ts";
import { aTransaction } from "../../../builders/transaction.ts";

/**
 * Goal: whatever a settling write meets, it is applied once or not at all, and its result is what happened or that this
 * is indeterminate. Method: faults on the wire to the emulator, and a clock that stands still unless a test moves it,
 * so that nothing here waits.
 */
let ledger: FaultyLedger;
beforeAll(async () => {
  ledger = await openFaultyLedger();
});
beforeEach(() => ledger.reset());
afterAll(() => ledger.proxy.stop());

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
    expect(await settleTransaction(ledger, transaction, settlement, enough())).toEqual({ kind: "applied" });
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
    expect(await settleTransaction(ledger, gone, failed, lastRound())).toEqual({ kind: "indeterminate" });
    expect(await readTransaction(ledger, transaction.pk)).toEqual(transaction);
    expect(log.text()).toContain(transaction.write_token);
  });

  test("a lost answer is logged, and a conflict is not", async () => {
    const log = captureLog();
    const [other, transaction] = [await ledger.anOpenTransaction(), await ledger.anOpenTransaction()];
    ledger.firstWrites(1, "conflict");
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

  test.each([
    ["settles a transaction without an upstream reference", "U1", undefined, true],
    ["settles the transaction that has its upstream reference", "U2", "U2", true],
    ["does not settle a transaction with another upstream reference", "U3", "U4", false],
  ])("an operator's match of an event %s", async (_name, eventReference, ownReference, settles) => {
    const transaction = await ledger.anOpenTransaction(
      ownReference === undefined ? {} : { upstream_reference: ownReference },
    );
    const settlement = { status: "success", upstream_reference: eventReference } as const;
    const TransactItems = [...settlementWrites(ledger, transaction, settlement, { absentOr: eventReference })];
    const written = ledger.db.transactWrite({ TransactItems }).then(
      () => true,
      () => false,
    );
    expect(await written).toBe(settles);
  });

  test("a heuristic match settles a transaction without an upstream reference, and none that has one", async () => {
    const settlement: Settlement = { status: "success", upstream_reference: `U-${randomUUID()}` };
    const transaction = await ledger.anOpenTransaction();
    expect(await settleByHeuristicMatch(ledger, transaction, settlement, enough())).toBe(true);
    expect(await readTransaction(ledger, transaction.pk)).toMatchObject(settlement);
    const withReference = await ledger.anOpenTransaction({ upstream_reference: "U2" });
    const another: Settlement = { status: "success", upstream_reference: `U-${randomUUID()}` };
    expect(await settleByHeuristicMatch(ledger, withReference, another, enough())).toBe(false);
    expect(await readTransaction(ledger, withReference.pk)).toEqual(withReference);
  });

  test("of two simultaneous heuristic matches of one upstream reference one is applied", async () => {
    const settlement: Settlement = { status: "success", upstream_reference: `U-${randomUUID()}` };
    const transactions = [await ledger.anOpenTransaction(), await ledger.anOpenTransaction()];
    const matched = await Promise.all(
      transactions.map((transaction) => settleByHeuristicMatch(ledger, transaction, settlement, enough())),
    );
    expect(matched.toSorted()).toEqual([false, true]);
    const stand = await Promise.all(transactions.map(({ pk }) => readTransaction(ledger, pk)));
    expect(stand.map((transaction) => transaction?.status).toSorted()).toEqual(["processing", "success"]);
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

  test("a settlement whose time is up before it begins is indeterminate without a wait", async () => {
    const transaction = await ledger.anOpenTransaction();
    ledger.firstWrites(99, "conflict");
    expect(await settleTransaction(ledger, transaction, failed, { remainingMs: () => 0 })).toEqual({
      kind: "indeterminate",
    });
  });

  test("a deadline may be a fraction of a millisecond", async () => {
    const transaction = await ledger.anOpenTransaction();
    const settlement = await settleTransaction(ledger, transaction, failed, { remainingMs: () => 9_000.5 });
    expect(settlement).toEqual({ kind: "applied" });
  });

  test("a settlement is aborted with 3.5 s left if the table does not answer", async () => {
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await new Promise((listening) => silent.once("listening", listening));
    const { port } = z.object({ port: z.number() }).parse(silent.address() satisfies AddressInfo | string | null);
    const db = emulatorClient(`http://127.0.0.1:${port}`);
    const deadline = deadlineIn(3_700);
    const settlement = await settleTransaction({ ...ledger, db }, aTransaction(), failed, deadline);
    expect(settlement).toEqual({ kind: "indeterminate" });
    expect(deadline.remainingMs()).toBeGreaterThan(2_000);
    silent.closeAllConnections();
    silent.close();
  });
});
