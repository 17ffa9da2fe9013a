import { randomUUID } from "node:crypto";
import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { type FaultyLedger, isWrite, openFaultyLedger, TRIES } from "../../../builders/faulty-ledger.ts";
import { NOON_MS } from "../../../builders/noon.ts";
import type { WireFault } from "../../../strict/faults.ts";

/**
 * Goal: whatever the write of a debit meets, its result is what happened to it, or that this is indeterminate. Method:
 * faults on the wire to the emulator, and a clock that stands still unless a test moves it, so that nothing here waits.
 */
let ledger: FaultyLedger;
beforeAll(async () => {
  ledger = await openFaultyLedger();
});
beforeEach(() => ledger.reset());
afterAll(() => ledger.proxy.stop());

const itemAt = async (pk: string): Promise<unknown> =>
  (await ledger.db.send(new GetCommand({ TableName: ledger.table, Key: { pk } }))).Item;

/** Enough time for every retry. */
const enough = (): Deadline => deadlineIn(29_000);
/** 29 s, less 5 s for each write: from the third on the upstream's share begins. */
const timeAfter = (writes: () => number) => () => 29_000 - writes() * 5_000;
const transactWrite = z.object({ ClientRequestToken: z.string(), TransactItems: z.array(z.unknown()) });

describe("openTransaction", () => {
  test("a debit takes the amount and puts the transaction and its records in one write", async () => {
    const accountId = await ledger.aWallet(700);
    const transaction = ledger.aTransaction(accountId);
    const record = { pk: `consent#${randomUUID()}`, by: "ada" };
    expect(await openTransaction(ledger, transaction, [record], enough())).toEqual({ kind: "opened" });
    expect(await readTransaction(ledger, transaction.pk)).toEqual(transaction);
    expect(await itemAt(record.pk)).toEqual(record);
    expect(await readWallet(ledger, accountId)).toMatchObject({
      balance_kobo: 20_000,
      version: 1,
      updated_at: isoTime(NOON_MS),
    });
  });

  test("a test transaction is opened without a wallet", async () => {
    const transaction = ledger.aTransaction("acc_without_wallet", { mode: "test" });
    expect(await openTransaction(ledger, transaction, [], enough())).toEqual({ kind: "opened" });
  });

  test("a debit takes the last kobo, and nothing from a balance that is a kobo too small", async () => {
    const accountId = await ledger.aWallet(999.99);
    expect(await openTransaction(ledger, ledger.aTransaction(accountId), [], enough())).toEqual({ kind: "opened" });
    expect(await openTransaction(ledger, ledger.aTransaction(accountId), [], enough())).toEqual({
      kind: "insufficient_balance",
    });
    expect(await ledger.balanceOf(accountId)).toBe(499.99);
    expect(await openTransaction(ledger, ledger.aTransaction(await ledger.aWallet(500)), [], enough())).toEqual({
      kind: "opened",
    });
  });

  test("an existing transaction is returned and nothing is debited, even if the wallet is empty", async () => {
    const transaction = await ledger.anOpenTransaction();
    const again = { ...transaction, write_token: randomUUID() };
    expect(await openTransaction(ledger, again, [], enough())).toEqual({ kind: "exists", transaction });
    expect(await ledger.balanceOf(transaction.account_id)).toBe(0);
  });

  test("a debit that meets a conflict is made by the next attempt", async () => {
    const accountId = await ledger.aWallet(500);
    const seen = ledger.firstWrites(1, "conflict");
    expect(await openTransaction(ledger, ledger.aTransaction(accountId), [], enough())).toEqual({ kind: "opened" });
    expect(seen.writes).toBe(2);
    expect(await ledger.balanceOf(accountId)).toBe(0);
  });

  test("a debit that meets conflicts until the upstream's share of the time begins is busy, and nothing is written", async () => {
    const accountId = await ledger.aWallet(500);
    const transaction = ledger.aTransaction(accountId);
    const seen = ledger.firstWrites(99, "conflict");
    expect(await openTransaction(ledger, transaction, [], { remainingMs: timeAfter(() => seen.writes) })).toEqual({
      kind: "busy",
    });
    expect(seen.writes).toBe(3);
    expect(await readTransaction(ledger, transaction.pk)).toBeUndefined();
  });

  test("a debit whose answer is lost is sent again and debits once", async () => {
    const accountId = await ledger.aWallet(1_000);
    const seen = ledger.firstWrites(1, "answer_lost");
    expect(await openTransaction(ledger, ledger.aTransaction(accountId), [], enough())).toEqual({ kind: "opened" });
    expect(seen.writes).toBe(TRIES + 1);
    expect(await ledger.balanceOf(accountId)).toBe(500);
  });

  test("a debit whose answer is lost twice is found by the write that would void it", async () => {
    const accountId = await ledger.aWallet(1_000);
    const seen = ledger.firstWrites(99, "answer_lost");
    expect(await openTransaction(ledger, ledger.aTransaction(accountId), [], enough())).toEqual({ kind: "opened" });
    expect(seen.writes).toBe(2 * TRIES);
    expect(await ledger.balanceOf(accountId)).toBe(500);
  });

  test("each retry of a debit sends the same writes, under the same token after a lost answer and a new one after a conflict", async () => {
    const sent: { readonly token: string; readonly items: string }[] = [];
    const faults: (WireFault | undefined)[] = ["conflict", "never_arrives", "never_arrives", "conflict", undefined];
    ledger.proxy.fault = ({ operation, body }) => {
      if (operation !== "TransactWriteItems") return undefined;
      const { ClientRequestToken: token, TransactItems } = transactWrite.parse(JSON.parse(body));
      sent.push({ token, items: JSON.stringify(TransactItems) });
      ledger.nowMs += 10;
      return faults.shift();
    };
    const transaction = ledger.aTransaction(await ledger.aWallet(500));
    expect(await openTransaction(ledger, transaction, [], enough())).toEqual({ kind: "opened" });
    expect(new Set(sent.map(({ items }) => items)).size).toBe(1);
    const tokens = sent.map(({ token }) => token);
    const [first, second, third, fourth, fifth] = tokens;
    expect([third, fourth]).toEqual([second, second]);
    expect(new Set([first, second, fifth]).size).toBe(3);
  });

  const VOID = { kind: "void", transaction: { status: "failed", debit: "void" } };

  test("a debit whose first copy lost its answer within the SDK's retries and then meets too small a balance is void", async () => {
    let writes = 0;
    ledger.proxy.fault = ({ operation }) => {
      if (operation !== "TransactWriteItems") return undefined;
      writes += 1;
      return writes === 1 ? "never_arrives" : undefined;
    };
    const poor = ledger.aTransaction(await ledger.aWallet(499));
    expect(await openTransaction(ledger, poor, [], enough())).toMatchObject(VOID);
    expect(writes).toBe(2);
  });

  test("a debit that was only throttled within the SDK's retries and then meets too small a balance is refused", async () => {
    let writes = 0;
    ledger.proxy.fault = ({ operation }) => {
      if (operation !== "TransactWriteItems") return undefined;
      writes += 1;
      return writes === 1 ? "throttled" : undefined;
    };
    const poor = ledger.aTransaction(await ledger.aWallet(499));
    expect(await openTransaction(ledger, poor, [], enough())).toEqual({ kind: "insufficient_balance" });
  });

  test("a debit that loses two requests and was not made is void, and changes nothing when it lands", async () => {
    const accountId = await ledger.aWallet(1_000);
    const transaction = ledger.aTransaction(accountId);
    const record = { pk: `consent#${randomUUID()}`, by: "ada" };
    const isDebit = (body: string): boolean => body.includes(transaction.pk) && body.includes("TransactItems");
    ledger.proxy.fault = ({ body }) => (isDebit(body) ? "lands_late" : undefined);
    ledger.proxy.calls.length = 0;
    const opened = await openTransaction(ledger, transaction, [record], enough());
    const { open: _open, listed_at: _listedAt, ...rest } = transaction;
    const failure = { code: "delivery_failed" };
    const voided = { ...rest, status: "failed", failure, debit: "void", updated_at: isoTime(NOON_MS) };
    expect(opened).toEqual({ kind: "void", transaction: voided });
    await ledger.proxy.landLateWrites();
    const landed = ledger.proxy.calls.filter(({ operation }) => operation === "TransactWriteItems");
    expect(landed).toHaveLength(2 * TRIES);
    expect(await readTransaction(ledger, transaction.pk)).toEqual(voided);
    expect(await itemAt(record.pk)).toBeUndefined();
    expect(await readWallet(ledger, accountId)).toMatchObject({ balance_kobo: 100_000, version: 0 });
  });

  test("a debit that loses two requests beside another request's transaction returns that transaction", async () => {
    const transaction = await ledger.anOpenTransaction();
    ledger.firstWrites(99, "never_arrives");
    expect(await openTransaction(ledger, { ...transaction, write_token: randomUUID() }, [], enough())).toEqual({
      kind: "exists",
      transaction,
    });
  });

  test("a debit that loses two requests and cannot be voided is indeterminate", async () => {
    const transaction = ledger.aTransaction(await ledger.aWallet(1_000));
    ledger.proxy.fault = () => "never_arrives";
    expect(await openTransaction(ledger, transaction, [], enough())).toEqual({ kind: "indeterminate" });
  });

  test("a debit that loses a request and then meets too small a balance is void: the lost one may have taken it", async () => {
    ledger.firstWrites(1, "never_arrives");
    const poor = ledger.aTransaction(await ledger.aWallet(499));
    expect(await openTransaction(ledger, poor, [], enough())).toMatchObject(VOID);
  });

  test("a debit that loses a request and then meets conflicts until the time is up is void, not busy", async () => {
    let writes = 0;
    ledger.proxy.fault = ({ operation }) => {
      if (!isWrite(operation)) return undefined;
      writes += 1;
      return writes <= TRIES ? "never_arrives" : "conflict";
    };
    const transaction = ledger.aTransaction(await ledger.aWallet(500));
    expect(await openTransaction(ledger, transaction, [], { remainingMs: timeAfter(() => writes) })).toMatchObject(
      VOID,
    );
    expect(writes).toBe(TRIES + 1);
  });
});
