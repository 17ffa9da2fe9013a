import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { GetCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { auditEntry } from "../../../../shared/ledger/audit.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { fundWallet, recordEntry } from "../../../../shared/ledger/ledger-entry.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import {
  type Settlement,
  settleByHeuristicMatch,
  settledTransaction,
  settlementWrites,
  settleTransaction,
} from "../../../../shared/ledger/settle-transaction.ts";
import { type Transaction, transactionPk } from "../../../../shared/ledger/transaction.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { koboFromNaira } from "../../../../shared/platform/money.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import type { Fault } from "../../../builders/dynamodb-proxy.ts";
import { type FaultyLedger, isWrite, NOON_MS, openFaultyLedger, TRIES } from "../../../builders/faulty-ledger.ts";
import { emulatorClient } from "../../../builders/tables.ts";
import { aTransactionRow } from "../../../builders/transaction.ts";

/**
 * Goal: whatever one write of the ledger meets, what is said of it is what happened to it, or that it is not known.
 * Method: faults on the wire to the emulator, and a clock that stands still unless a test moves it, so that nothing here waits.
 */
let ledger: FaultyLedger;
beforeAll(async () => {
  ledger = await openFaultyLedger();
});
beforeEach(() => ledger.reset());
afterAll(() => ledger.proxy.stop());

const itemAt = async (pk: string): Promise<unknown> =>
  (await ledger.db.send(new GetCommand({ TableName: ledger.table, Key: { pk } }))).Item;

/** An order for 500 NGN. */
const anOrderOf = (accountId: string, changes: Partial<Transaction> = {}): Transaction =>
  aTransactionRow({
    pk: transactionPk(randomUUID()),
    account_id: accountId,
    owner: `${accountId}#live`,
    attempt: randomUUID(),
    ...changes,
  });
/** Enough time for every retry. */
const enough = (): Deadline => deadlineIn(29_000);
/** 29 s, less 5 s for each write: from the third on the upstream's share begins. */
const timeAfter = (writes: () => number) => () => 29_000 - writes() * 5_000;
const transactWrite = z.object({ ClientRequestToken: z.string(), TransactItems: z.array(z.unknown()) });

const anOpenOrder = async (changes: Partial<Transaction> = {}): Promise<Transaction> => {
  const transaction = anOrderOf(await ledger.aWallet(500), changes);
  expect(await openTransaction(ledger, transaction, [], enough())).toEqual({ kind: "opened" });
  return transaction;
};

describe("the debit", () => {
  test("takes the price and puts the order and its records in one write", async () => {
    const accountId = await ledger.aWallet(700);
    const transaction = anOrderOf(accountId);
    const record = { pk: `consent#${randomUUID()}`, by: "somebody" };
    expect(await openTransaction(ledger, transaction, [record], enough())).toEqual({ kind: "opened" });
    expect(await readTransaction(ledger, transaction.pk)).toEqual(transaction);
    expect(await itemAt(record.pk)).toEqual(record);
    expect(await readWallet(ledger, accountId)).toMatchObject({
      balance_kobo: 20_000,
      version: 1,
      updated_at: isoTime(NOON_MS),
    });
  });

  test("of a test order needs no wallet", async () => {
    const row = anOrderOf("acc_without_wallet", { mode: "test" });
    expect(await openTransaction(ledger, row, [], enough())).toEqual({ kind: "opened" });
  });

  test("takes the last kobo, and from a kobo less it takes nothing", async () => {
    const accountId = await ledger.aWallet(999.99);
    expect(await openTransaction(ledger, anOrderOf(accountId), [], enough())).toEqual({ kind: "opened" });
    expect(await openTransaction(ledger, anOrderOf(accountId), [], enough())).toEqual({ kind: "insufficient_balance" });
    expect(await ledger.balanceOf(accountId)).toBe(499.99);
    expect(await openTransaction(ledger, anOrderOf(await ledger.aWallet(500)), [], enough())).toEqual({
      kind: "opened",
    });
  });

  test("of an order that stands already says which, and takes nothing, even from an empty wallet", async () => {
    const row = await anOpenOrder();
    const again = { ...row, attempt: randomUUID() };
    expect(await openTransaction(ledger, again, [], enough())).toEqual({ kind: "exists", row });
    expect(await ledger.balanceOf(row.account_id)).toBe(0);
  });

  test("that meets a conflict is made in the next round", async () => {
    const accountId = await ledger.aWallet(500);
    const seen = ledger.firstWrites(1, "conflict");
    expect(await openTransaction(ledger, anOrderOf(accountId), [], enough())).toEqual({ kind: "opened" });
    expect(seen.writes).toBe(2);
    expect(await ledger.balanceOf(accountId)).toBe(0);
  });

  test("that meets conflicts until the upstream's share of the time begins is given up: busy, and nothing was written", async () => {
    const accountId = await ledger.aWallet(500);
    const row = anOrderOf(accountId);
    const seen = ledger.firstWrites(99, "conflict");
    expect(await openTransaction(ledger, row, [], { remainingMs: timeAfter(() => seen.writes) })).toEqual({
      kind: "busy",
    });
    expect(seen.writes).toBe(3);
    expect(await readTransaction(ledger, row.pk)).toBeUndefined();
  });

  test("whose answer is lost is asked for again, and is one debit", async () => {
    const accountId = await ledger.aWallet(1_000);
    const seen = ledger.firstWrites(1, "answer_lost");
    expect(await openTransaction(ledger, anOrderOf(accountId), [], enough())).toEqual({ kind: "opened" });
    expect(seen.writes).toBe(TRIES + 1);
    expect(await ledger.balanceOf(accountId)).toBe(500);
  });

  test("whose answer is lost twice is found by a read", async () => {
    const accountId = await ledger.aWallet(1_000);
    const seen = ledger.firstWrites(99, "answer_lost");
    expect(await openTransaction(ledger, anOrderOf(accountId), [], enough())).toEqual({ kind: "opened" });
    expect(seen.writes).toBe(2 * TRIES);
    expect(await ledger.balanceOf(accountId)).toBe(500);
  });

  test("is the same request with every retry: the same token after a lost answer, another after a conflict", async () => {
    const sent: { readonly token: string; readonly items: string }[] = [];
    const faults: (Fault | undefined)[] = ["conflict", "never_arrives", "never_arrives", "conflict", undefined];
    ledger.proxy.fault = ({ operation, body }) => {
      if (operation !== "TransactWriteItems") return undefined;
      const { ClientRequestToken: token, TransactItems } = transactWrite.parse(JSON.parse(body));
      sent.push({ token, items: JSON.stringify(TransactItems) });
      ledger.nowMs += 10;
      return faults.shift();
    };
    const row = anOrderOf(await ledger.aWallet(500));
    expect(await openTransaction(ledger, row, [], enough())).toEqual({ kind: "opened" });
    expect(new Set(sent.map(({ items }) => items)).size).toBe(1);
    const tokens = sent.map(({ token }) => token);
    const [first, second, third, fourth, fifth] = tokens;
    expect([third, fourth]).toEqual([second, second]);
    expect(new Set([first, second, fifth]).size).toBe(3);
  });

  test("whose first copy was lost within the SDK's own retries and then meets too small a balance is in doubt", async () => {
    let writes = 0;
    ledger.proxy.fault = ({ operation }) => {
      if (operation !== "TransactWriteItems") return undefined;
      writes += 1;
      return writes === 1 ? "never_arrives" : undefined;
    };
    const doubt = { kind: "doubt", lookedUp: true };
    expect(await openTransaction(ledger, anOrderOf(await ledger.aWallet(499)), [], enough())).toEqual(doubt);
    expect(writes).toBe(2);
  });

  test("that was only throttled within the SDK's own retries is certain to be beyond the balance", async () => {
    let writes = 0;
    ledger.proxy.fault = ({ operation }) => {
      if (operation !== "TransactWriteItems") return undefined;
      writes += 1;
      return writes === 1 ? "throttled" : undefined;
    };
    const poor = anOrderOf(await ledger.aWallet(499));
    expect(await openTransaction(ledger, poor, [], enough())).toEqual({ kind: "insufficient_balance" });
  });

  test("that is lost twice and not found is in doubt, not refused", async () => {
    const row = anOrderOf(await ledger.aWallet(1_000));
    ledger.firstWrites(99, "never_arrives");
    expect(await openTransaction(ledger, row, [], enough())).toEqual({ kind: "doubt", lookedUp: true });
  });

  test("that is lost twice beside another request's order is that order", async () => {
    const row = await anOpenOrder();
    ledger.firstWrites(99, "never_arrives");
    expect(await openTransaction(ledger, { ...row, attempt: randomUUID() }, [], enough())).toEqual({
      kind: "exists",
      row,
    });
  });

  test("that is lost twice and cannot be looked up is in doubt", async () => {
    const row = anOrderOf(await ledger.aWallet(1_000));
    ledger.proxy.fault = () => "never_arrives";
    expect(await openTransaction(ledger, row, [], enough())).toEqual({ kind: "doubt", lookedUp: false });
  });

  test("that is lost once and then meets too small a balance is in doubt: the lost one may have taken it", async () => {
    ledger.firstWrites(1, "never_arrives");
    const doubt = { kind: "doubt", lookedUp: true };
    expect(await openTransaction(ledger, anOrderOf(await ledger.aWallet(499)), [], enough())).toEqual(doubt);
  });

  test("that is lost once and then meets conflicts until the time is up is in doubt, not busy", async () => {
    let writes = 0;
    ledger.proxy.fault = ({ operation }) => {
      if (!isWrite(operation)) return undefined;
      writes += 1;
      return writes <= TRIES ? "never_arrives" : "conflict";
    };
    const doubt = { kind: "doubt", lookedUp: true };
    const row = anOrderOf(await ledger.aWallet(500));
    expect(await openTransaction(ledger, row, [], { remainingMs: timeAfter(() => writes) })).toEqual(doubt);
    expect(writes).toBe(TRIES + 1);
  });
});

const failed: Settlement = { status: "failed", failure: { code: "delivery_failed" } };
/** Time for one attempt at the first look, and just not enough for another at the second. */
const lastRound = (): Deadline => {
  const looks = [20_000];
  return { remainingMs: () => looks.shift() ?? 3_500 };
};

describe("the write that settles", () => {
  test("ends an order with what the upstream said, once", async () => {
    const transaction = await anOpenOrder();
    const settlement: Settlement = { status: "success", upstream_reference: "U1" };
    ledger.nowMs += 5_000;
    expect(await settleTransaction(ledger, transaction, settlement, enough())).toEqual({ kind: "applied" });
    const settled = { ...settledTransaction(transaction, settlement), updated_at: isoTime(NOON_MS + 5_000) };
    expect(await readTransaction(ledger, transaction.pk)).toEqual(settled);
    expect(await settleTransaction(ledger, transaction, failed, enough())).toEqual({ kind: "stands", row: settled });
    expect(await ledger.balanceOf(transaction.account_id)).toBe(0);
  });

  test("writes nothing of what is not known", async () => {
    const row = await anOpenOrder();
    const settlement: Settlement = {
      status: "success",
      upstream_reference: undefined,
      upstream_amount_kobo: undefined,
    };
    expect(await settleTransaction(ledger, row, settlement, enough())).toEqual({ kind: "applied" });
    expect(await readTransaction(ledger, row.pk)).not.toHaveProperty("upstream_reference");
  });

  test("does not end an order whose money cannot be given back, and says so in the log", async () => {
    const said = vi.spyOn(console, "log").mockImplementation(() => undefined);
    const row = await anOpenOrder();
    const gone = { ...row, account_id: "acc_without_wallet" };
    expect(await settleTransaction(ledger, gone, failed, lastRound())).toEqual({ kind: "not_known" });
    expect(await readTransaction(ledger, row.pk)).toEqual(row);
    expect(said.mock.calls.flat().map(String).join()).toContain(row.attempt);
  });

  test("says in the log that an answer was lost, and nothing of a conflict", async () => {
    const said = vi.spyOn(console, "log").mockImplementation(() => undefined);
    const [other, row] = [await anOpenOrder(), await anOpenOrder()];
    ledger.firstWrites(1, "conflict");
    await settleTransaction(ledger, other, failed, enough());
    expect(said).not.toHaveBeenCalled();
    ledger.firstWrites(1, "never_arrives");
    await settleTransaction(ledger, row, failed, enough());
    expect(said.mock.calls.flat().map(String).join()).toContain(row.attempt);
  });

  test("leaves a named order open", async () => {
    const row = await anOpenOrder();
    const settlement: Settlement = { status: "processing", upstream_reference: "U1" };
    expect(await settleTransaction(ledger, row, settlement, enough())).toEqual({ kind: "applied" });
    expect(await readTransaction(ledger, row.pk)).toMatchObject({ status: "processing", open: "live" });
  });

  test("gives a failed live order's money back, once", async () => {
    const row = await anOpenOrder();
    expect(await settleTransaction(ledger, row, failed, enough())).toEqual({ kind: "applied" });
    expect(await settleTransaction(ledger, row, failed, enough())).toMatchObject({ kind: "stands" });
    expect(await readWallet(ledger, row.account_id)).toMatchObject({ balance_kobo: 50_000, version: 2 });
  });

  test("fails a test order without a wallet", async () => {
    const row = anOrderOf("acc_without_wallet", { mode: "test" });
    await openTransaction(ledger, row, [], enough());
    expect(await settleTransaction(ledger, row, failed, enough())).toEqual({ kind: "applied" });
  });

  test.each([
    ["another attempt", { attempt: "another" }],
    ["the other mode", { mode: "test" as const }],
  ])("does not settle %s of the same order", async (_name, changes) => {
    const row = await anOpenOrder();
    const settlement = await settleTransaction(ledger, { ...row, ...changes }, { status: "success" }, enough());
    expect(settlement).toEqual({ kind: "stands", row });
  });

  test.each([
    ["settles an order without a name", "U1", undefined, true],
    ["settles the order of its name", "U2", "U2", true],
    ["does not settle an order of another name", "U3", "U4", false],
  ])("by an operator's word on an event %s", async (_name, theirs, ours, settles) => {
    const row = await anOpenOrder(ours === undefined ? {} : { upstream_reference: ours });
    const settlement = { status: "success", upstream_reference: theirs } as const;
    const TransactItems = [...settlementWrites(ledger, row, settlement, { unnamedOr: theirs })];
    const written = ledger.db.send(new TransactWriteCommand({ TransactItems })).then(
      () => true,
      () => false,
    );
    expect(await written).toBe(settles);
  });

  test("by a match ends an order without a name, and none that has one", async () => {
    const settlement: Settlement = { status: "success", upstream_reference: `U-${randomUUID()}` };
    const row = await anOpenOrder();
    expect(await settleByHeuristicMatch(ledger, row, settlement, enough())).toBe(true);
    expect(await readTransaction(ledger, row.pk)).toMatchObject(settlement);
    const named = await anOpenOrder({ upstream_reference: "U2" });
    expect(await settleByHeuristicMatch(ledger, named, settlement, enough())).toBe(false);
    expect(await readTransaction(ledger, named.pk)).toEqual(named);
  });

  test("by a match ends no second order under one name, also when both are tried at once", async () => {
    const settlement: Settlement = { status: "success", upstream_reference: `U-${randomUUID()}` };
    const transactions = [await anOpenOrder(), await anOpenOrder()];
    const matched = await Promise.all(
      transactions.map((row) => settleByHeuristicMatch(ledger, row, settlement, enough())),
    );
    expect(matched.toSorted()).toEqual([false, true]);
    const stand = await Promise.all(transactions.map(({ pk }) => readTransaction(ledger, pk)));
    expect(stand.map((row) => row?.status).toSorted()).toEqual(["processing", "success"]);
  });

  test.each([["conflict"], ["answer_lost"], ["never_arrives"]] as const)(
    "that meets %s in its first round gives the money back once in the end",
    async (fault) => {
      const row = await anOpenOrder();
      const seen = ledger.firstWrites(1, fault);
      const settlement = await settleTransaction(ledger, row, failed, enough());
      expect(settlement.kind).toBe(fault === "answer_lost" ? "stands" : "applied");
      expect(seen.writes).toBe(fault === "conflict" ? 2 : TRIES + 1);
      expect(await ledger.balanceOf(row.account_id)).toBe(500);
    },
  );

  test("is tried once when the time is as good as up, and then said to be not known", async () => {
    const row = await anOpenOrder();
    const seen = ledger.firstWrites(99, "conflict");
    expect(await settleTransaction(ledger, row, failed, lastRound())).toEqual({ kind: "not_known" });
    expect(seen.writes).toBe(1);
  });

  test("is not waited for when the time is up before it begins", async () => {
    const row = await anOpenOrder();
    ledger.firstWrites(99, "conflict");
    expect(await settleTransaction(ledger, row, failed, { remainingMs: () => 0 })).toEqual({ kind: "not_known" });
  });

  test("takes a time that is not a whole number of milliseconds", async () => {
    const row = await anOpenOrder();
    const settlement = await settleTransaction(ledger, row, failed, { remainingMs: () => 9_000.5 });
    expect(settlement).toEqual({ kind: "applied" });
  });

  test("is cut off so that 3.5 s are left for what follows, if the table does not answer", async () => {
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await new Promise((listening) => silent.once("listening", listening));
    const { port } = z.object({ port: z.number() }).parse(silent.address() satisfies AddressInfo | string | null);
    const db = emulatorClient(`http://127.0.0.1:${port}`);
    const deadline = deadlineIn(3_700);
    const settlement = await settleTransaction({ ...ledger, db }, aTransactionRow(), failed, deadline);
    expect(settlement).toEqual({ kind: "not_known" });
    expect(deadline.remainingMs()).toBeGreaterThan(2_000);
    silent.closeAllConnections();
    silent.close();
  });
});

describe("the booking of money", () => {
  const amountKobo = koboFromNaira(100);
  const anEntry = (account_id: string, amount_kobo: number) =>
    ({ kind: "adjustment", account_id, entry_id: randomUUID(), amount_kobo }) as const;

  test("that meets a conflict is made in the next round, once", async () => {
    const accountId = await ledger.aWallet(0);
    ledger.firstWrites(1, "conflict");
    const fundingId = randomUUID();
    expect(await fundWallet(ledger, { accountId, fundingId, amountKobo })).toEqual({ kind: "booked" });
    expect(await fundWallet(ledger, { accountId, fundingId, amountKobo })).toMatchObject({
      kind: "booked_before",
      entry: { entry_id: fundingId, amount_kobo: amountKobo, created_at: isoTime(NOON_MS) },
    });
    expect(await ledger.balanceOf(accountId)).toBe(100);
  });

  test("that meets nothing but conflicts is given up after 10 s with an error", async () => {
    const accountId = await ledger.aWallet(0);
    const seen = ledger.neverFree();
    await expect(fundWallet(ledger, { accountId, fundingId: randomUUID(), amountKobo })).rejects.toThrow();
    expect(seen.writes).toBe(3);
    ledger.proxy.fault = () => undefined;
    expect(await ledger.balanceOf(accountId)).toBe(0);
  });

  test("out of the wallet takes the last kobo, and not a kobo more than there is", async () => {
    const accountId = await ledger.aWallet(100);
    const seen = ledger.firstWrites(0, "conflict");
    expect(await recordEntry(ledger, anEntry(accountId, -10_001))).toEqual({ kind: "insufficient_balance" });
    expect(seen.writes).toBe(1);
    expect(await recordEntry(ledger, anEntry(accountId, -10_000))).toEqual({ kind: "booked" });
    expect(await ledger.balanceOf(accountId)).toBe(0);
  });

  test("keeps why, and the operator's act beside it, or neither", async () => {
    const accountId = await ledger.aWallet(100);
    const act = auditEntry({ subject: accountId, by: "ada", action: "wallet adjust" }, NOON_MS);
    const entry = { ...anEntry(accountId, -10_000), why: "ticket 88" };
    expect(await recordEntry(ledger, entry, act)).toEqual({ kind: "booked" });
    expect(await itemAt(act.pk)).toEqual(act);
    expect(await recordEntry(ledger, entry)).toMatchObject({ kind: "booked_before", entry });
    const refused = auditEntry({ subject: accountId, by: "ada", action: "wallet adjust" }, NOON_MS);
    expect(await recordEntry(ledger, anEntry(accountId, -1), refused)).toEqual({ kind: "insufficient_balance" });
    expect(await itemAt(refused.pk)).toBeUndefined();
  });

  test("into a wallet that does not exist is an error, and not a poor wallet", async () => {
    await expect(recordEntry(ledger, anEntry("acc_without_wallet", 1))).rejects.toThrow();
  });

  test("whose write cannot be made is an error, not a poor wallet", async () => {
    const accountId = await ledger.aWallet(100);
    const seen = ledger.firstWrites(99, "never_arrives");
    await expect(recordEntry(ledger, anEntry(accountId, -1))).rejects.toThrow();
    expect(seen.writes).toBe(TRIES);
    ledger.proxy.fault = () => undefined;
    expect(await ledger.balanceOf(accountId)).toBe(100);
  });
});
