import { randomUUID } from "node:crypto";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "#zod";
import type { DailyQuota } from "../../../../shared/contract/permission.ts";
import { HOUR_MS } from "../../../../shared/contract/values/durations.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { openTransaction, openUnlessOvertaking } from "../../../../shared/ledger/open-transaction.ts";
import { QUEUED, walletPk } from "../../../../shared/ledger/schema.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import { type Deadline, deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { emulatorClient } from "../../../builders/dynamodb/tables.ts";
import { faultyLedgerForTests, isWrite, TRIES } from "../../../builders/ledger/faulty-ledger.ts";
import { startScriptedServer } from "../../../builders/network/scripted-server.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import type { WireFault } from "../../../strict/faults.ts";

/**
 * Goal: whatever the write of a debit meets, its result is what happened to it, or that this is indeterminate. Method:
 * faults on the wire to the emulator, and a clock that stands still unless a test moves it, so that nothing here waits.
 */
const ledger = await faultyLedgerForTests();

const itemAt = async (pk: string): Promise<unknown> =>
  (await ledger.db.get({ TableName: ledger.table, Key: { pk } })).Item;

/** Enough time for every retry. */
const enough = (): Deadline => deadlineIn(29_000);
/** 29 s, less 5 s for each write: from the third on the upstream's share begins. */
const timeAfter = (writes: () => number) => () => 29_000 - writes() * 5_000;
const transactWrite = z.object({ ClientRequestToken: z.string(), TransactItems: z.array(z.unknown()) });

describe("openTransaction", () => {
  test("a debit takes the amount and puts the transaction and its records in one write", async () => {
    const accountId = await ledger.aWallet(700);
    const transaction = ledger.aTransaction(accountId);
    const record = { pk: `consent#${randomUUID()}`, by: "ada", created_at: transaction.created_at };
    ledger.proxy.calls.length = 0;
    const log = captureLog();
    expect(await openTransaction(ledger, transaction, [record], enough())).toEqual({ kind: "opened" });
    expect(log.text()).toBe("");
    expect(ledger.proxy.calls.map(({ operation }) => operation)).toEqual(["TransactWriteItems"]);
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

  test("a debit from a wallet that does not exist is refused by one write", async () => {
    const seen = ledger.firstWrites(0, "conflict");
    const transaction = ledger.aTransaction("acc_without_wallet");
    expect(await openTransaction(ledger, transaction, [], enough())).toEqual({ kind: "insufficient_balance" });
    expect(seen.writes).toBe(1);
  });

  test("an existing transaction is returned and nothing is debited, even if the wallet is empty", async () => {
    const transaction = await ledger.anOpenTransaction();
    const again = { ...transaction, write_token: randomUUID() };
    expect(await openTransaction(ledger, again, [], enough())).toEqual({ kind: "exists", transaction });
    expect(await ledger.balanceOf(transaction.account_id)).toBe(0);
  });

  test("a debit of an identity check counts it, and one of a purchase does not", async () => {
    const accountId = await ledger.aWallet(10_000);
    const open = (type: Transaction["type"]) =>
      openTransaction(ledger, ledger.aTransaction(accountId, { type }), [], enough());
    expect([await open("nin_verification"), await open("data")]).toEqual([{ kind: "opened" }, { kind: "opened" }]);
    expect((await readWallet(ledger, accountId)).checks).toBe(1);
  });

  test("an order that is sent at once is not opened while orders of its account wait, and is refused for a restriction first", async () => {
    const accountId = await ledger.aWallet(10_000);
    const update = (UpdateExpression: string, values: object) =>
      ledger.db.update({
        ...{ TableName: ledger.table, Key: { pk: walletPk(accountId) }, UpdateExpression },
        ...{
          ExpressionAttributeNames: { "#open": "open" },
          ExpressionAttributeValues: { ":queued": QUEUED, ...values },
        },
      });
    const open = (how: typeof openUnlessOvertaking) =>
      how(ledger, ledger.aTransaction(accountId), [], enough()).then(({ kind }) => kind);
    expect(await open(openUnlessOvertaking)).toBe("opened");
    await update("SET #open = :queued", {});
    expect(await open(openUnlessOvertaking)).toBe("would_overtake");
    expect(await open(openTransaction)).toBe("opened");
    await update("SET #open = :queued, restricted = :true", { ":true": true });
    expect([await open(openUnlessOvertaking), await open(openTransaction)]).toEqual(["restricted", "restricted"]);
    expect(await ledger.balanceOf(accountId)).toBe(9_000);
  });

  describe("of an account with a daily quota", () => {
    const quota = { entitlement: "identity", perDay: 3 } as const;
    const place = async (
      accountId: string,
      of: DailyQuota = quota,
      open: typeof openUnlessOvertaking = openTransaction,
    ) => (await open(ledger, ledger.aTransaction(accountId), [], enough(), { quota: of })).kind;

    test("a day in Lagos has as many orders as the quota allows, and the next day as many again", async () => {
      const accountId = await ledger.aWallet(10_000);
      const day = async () => [
        await place(accountId),
        await place(accountId),
        await place(accountId),
        await place(accountId),
      ];
      expect(await day()).toEqual(["opened", "opened", "opened", "quota_used"]);
      expect(await ledger.balanceOf(accountId)).toBe(8_500);
      // 23:59:59.999 in Lagos.
      ledger.nowMs = NOON_MS + 11 * HOUR_MS - 1;
      expect(await place(accountId)).toBe("quota_used");
      ledger.nowMs += 1;
      expect(await day()).toEqual(["opened", "opened", "opened", "quota_used"]);
      ledger.nowMs += 72 * HOUR_MS;
      expect(await place(accountId)).toBe("opened");
      ledger.nowMs += 24 * HOUR_MS;
      expect(await day()).toEqual(["opened", "opened", "opened", "quota_used"]);
    });

    test("only the first order of a day needs a second write", async () => {
      const accountId = await ledger.aWallet(10_000);
      const seen = ledger.firstWrites(0, "conflict");
      await place(accountId);
      expect(seen.writes).toBe(2);
      await place(accountId);
      expect(seen.writes).toBe(3);
    });

    test("each kind of order has a count of its own, and the first one of a day begins all of them", async () => {
      const accountId = await ledger.aWallet(10_000);
      const [once, vtu] = [{ ...quota, perDay: 1 }, { entitlement: "vtu", perDay: 1 } as const];
      expect([await place(accountId, once), await place(accountId, vtu)]).toEqual(["opened", "opened"]);
      expect([await place(accountId, once), await place(accountId, vtu)]).toEqual(["quota_used", "quota_used"]);
      ledger.nowMs = NOON_MS + 24 * HOUR_MS;
      expect([await place(accountId, vtu), await place(accountId, once)]).toEqual(["opened", "opened"]);
    });

    test("an order of an instance whose clock is a day behind counts for the wallet's day", async () => {
      const accountId = await ledger.aWallet(10_000);
      ledger.nowMs = NOON_MS + 24 * HOUR_MS;
      await place(accountId);
      ledger.nowMs = NOON_MS;
      expect([await place(accountId), await place(accountId), await place(accountId)]).toEqual([
        "opened",
        "opened",
        "quota_used",
      ]);
    });

    test("an empty wallet is insufficient_balance, on the first order of a day and on later ones", async () => {
      const accountId = await ledger.aWallet(499);
      expect(await place(accountId)).toBe("insufficient_balance");
      const poor = await ledger.aWallet(500);
      expect([await place(poor), await place(poor)]).toEqual(["opened", "insufficient_balance"]);
    });

    test("an order that would overtake none is counted, also if it is sent at once", async () => {
      const accountId = await ledger.aWallet(10_000);
      const once = { ...quota, perDay: 1 };
      expect(await place(accountId, once, openUnlessOvertaking)).toBe("opened");
      expect(await place(accountId, once, openUnlessOvertaking)).toBe("quota_used");
    });

    test("a repeated order is a replay also when the quota is used", async () => {
      const accountId = await ledger.aWallet(10_000);
      const transaction = ledger.aTransaction(accountId);
      const once = { ...quota, perDay: 1 };
      expect(await openTransaction(ledger, transaction, [], enough(), { quota: once })).toEqual({ kind: "opened" });
      const again = { ...transaction, write_token: randomUUID() };
      expect(await openTransaction(ledger, again, [], enough(), { quota: once })).toMatchObject({ kind: "exists" });
    });
  });

  test.each([
    ["a conflict is made by the next attempt", 1, "conflict", 2],
    ["a lost answer is sent again and debits once", 1, "answer_lost", TRIES + 1],
    ["two lost answers is found by the write that would void it", 99, "answer_lost", 2 * TRIES],
  ] as const)("a debit that meets %s", async (_name, times, fault, writes) => {
    const accountId = await ledger.aWallet(1_000);
    const seen = ledger.firstWrites(times, fault);
    expect(await openTransaction(ledger, ledger.aTransaction(accountId), [], enough())).toEqual({ kind: "opened" });
    expect(seen.writes).toBe(writes);
    expect(await ledger.balanceOf(accountId)).toBe(500);
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

  test.each(["never_arrives", "in_progress"] as const)(
    "a debit whose first copy meets %s within the SDK's retries and then too small a balance is void: it may have taken it",
    async (fault) => {
      const seen = ledger.firstTries(1, fault);
      const poor = ledger.aTransaction(await ledger.aWallet(499));
      expect(await openTransaction(ledger, poor, [], enough())).toMatchObject(VOID);
      expect(seen.writes).toBe(2);
    },
  );

  test("a debit that was only throttled within the SDK's retries and then meets too small a balance is refused", async () => {
    ledger.firstTries(1, "throttled");
    const poor = ledger.aTransaction(await ledger.aWallet(499));
    expect(await openTransaction(ledger, poor, [], enough())).toEqual({ kind: "insufficient_balance" });
  });

  test("a debit that loses two requests and was not made is void, and changes nothing when it lands", async () => {
    const accountId = await ledger.aWallet(1_000);
    const transaction = ledger.aTransaction(accountId);
    const record = { pk: `consent#${randomUUID()}`, by: "ada", created_at: transaction.created_at };
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

  test("a debit and the write that voids it are aborted with 3.5 s left if the table does not answer", async () => {
    const { baseUrl } = await startScriptedServer(() => undefined);
    let nowMs = 0;
    const deadline = deadlineIn(5_200, () => nowMs);
    // The time that a call has is over at once.
    onTestFinished(() => void vi.restoreAllMocks());
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    vi.spyOn(AbortSignal, "timeout").mockImplementation((delayMs) => {
      nowMs += delayMs;
      return timeout(1);
    });
    const opened = openTransaction(
      { ...ledger, db: emulatorClient(baseUrl) },
      ledger.aTransaction("acc_1"),
      [],
      deadline,
    );
    expect(await opened).toEqual({ kind: "indeterminate" });
    expect(deadline.remainingMs()).toBe(3_500);
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
