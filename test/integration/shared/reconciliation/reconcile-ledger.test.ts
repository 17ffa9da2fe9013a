import { randomUUID } from "node:crypto";
import { BatchGetCommand, DeleteCommand, PutCommand, TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, expect, test, vi } from "vitest";
import * as z from "zod";
import { createAccount } from "../../../../shared/access/accounts.ts";
import { readCheckpoint } from "../../../../shared/ledger/checkpoint.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import type { Ledger } from "../../../../shared/ledger/ledger.ts";
import { fundWallet } from "../../../../shared/ledger/ledger-entry.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import { transactionPk, walletPk } from "../../../../shared/ledger/schema.ts";
import { settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { koboFromNaira, nairaFromKobo } from "../../../../shared/platform/money.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { reconcileLedger } from "../../../../shared/reconciliation/reconcile-ledger.ts";
import { reconcileAndCheckpoint, reconcileWallet } from "../../../../shared/reconciliation/reconcile-wallet.ts";
import { freshTables } from "../../../builders/tables.ts";

/** Goal: what is open is measured, what nobody will answer is refunded, and a wallet that lies is found. The clock is the test's. */
const NOON_MS = Date.parse("2026-11-21T12:00:00.000Z");
let tables: Awaited<ReturnType<typeof freshTables>>;
beforeAll(async () => {
  tables = await freshTables();
});

const ledgerAt = (nowMs: number): Ledger => ({ db: tables.db, table: tables.ledgerTable, clock: () => nowMs });

const aFundedAccount = async (naira: number): Promise<string> => {
  const { account_id: accountId } = await createAccount(
    { ...tables, clock: () => NOON_MS },
    { name: "test", whitelist: [] },
  );
  await fundWallet(ledgerAt(NOON_MS), { accountId, fundingId: `first-${accountId}`, amountKobo: koboFromNaira(naira) });
  return accountId;
};

const open = async (accountId: string, atMs: number, changes: Partial<Transaction> = {}): Promise<Transaction> => {
  const transaction: Transaction = {
    pk: transactionPk(randomUUID()),
    owner: `${accountId}#live`,
    account_id: accountId,
    key_id: "key_1",
    mode: "live",
    type: "data",
    status: "processing",
    attempt: randomUUID(),
    fingerprint: "f",
    amount_kobo: koboFromNaira(500),
    description: "A bundle",
    open: "live",
    created_at: isoTime(atMs),
    updated_at: isoTime(atMs),
    ...changes,
  };
  expect(await openTransaction(ledgerAt(atMs), transaction, [], deadlineIn(29_000))).toEqual({ kind: "opened" });
  return transaction;
};

const metricsOf = async (ledger: Ledger): Promise<unknown> => {
  const lines: string[] = [];
  const spy = vi.spyOn(console, "log").mockImplementation((line: unknown) => void lines.push(String(line)));
  await reconcileLedger(ledger, deadlineIn(300_000));
  spy.mockRestore();
  return Object.assign({}, ...lines.filter((text) => text.includes("_aws")).map((text) => JSON.parse(text)));
};

const balanceOf = async (accountId: string): Promise<number> =>
  nairaFromKobo((await readWallet(ledgerAt(NOON_MS), accountId)).balance_kobo);

test("a check that is open for 5 minutes and 1 second is refunded once; a purchase as old stays open", async () => {
  const accountId = await aFundedAccount(2_000);
  const check = await open(accountId, NOON_MS, { type: "nin_verification" });
  const purchase = await open(accountId, NOON_MS);
  await metricsOf(ledgerAt(NOON_MS + 300_000));
  expect(await balanceOf(accountId)).toBe(1_000);
  await metricsOf(ledgerAt(NOON_MS + 301_000));
  await metricsOf(ledgerAt(NOON_MS + 302_000));
  expect(await balanceOf(accountId)).toBe(1_500);
  expect(await readTransaction(ledgerAt(NOON_MS), check.pk)).toMatchObject({
    status: "failed",
    failure: { code: "provider_timeout" },
  });
  expect(await readTransaction(ledgerAt(NOON_MS), purchase.pk)).toMatchObject({ status: "processing" });
});

test("the metrics tell the oldest open transaction's age and how many are older than 15 minutes", async () => {
  const accountId = await aFundedAccount(2_000);
  await open(accountId, NOON_MS - 3_600_000);
  expect(await metricsOf(ledgerAt(NOON_MS))).toMatchObject({ OldestOpenSeconds: 3_600, StuckTransactions: 1 });
});

test("a wallet that holds what its entries say is proved: 2,000 funded, 500 spent, 500 open, 500 refunded", async () => {
  const accountId = await aFundedAccount(2_000);
  const [spent, , refunded] = [
    await open(accountId, NOON_MS),
    await open(accountId, NOON_MS),
    await open(accountId, NOON_MS),
  ];
  const ledger = ledgerAt(NOON_MS);
  await settleTransaction(ledger, spent, { status: "success" }, deadlineIn(9_000));
  await settleTransaction(
    ledger,
    refunded,
    { status: "failed", failure: { code: "delivery_failed" } },
    deadlineIn(9_000),
  );
  expect(await reconcileWallet(ledger, accountId)).toEqual({
    balance_kobo: 100_000,
    expected_kobo: 100_000,
    difference_kobo: 0,
  });
});

test("the checkpoint passes over an open transaction by its key, and the proofs after it agree", async () => {
  const accountId = await aFundedAccount(5_000);
  const hourMs = 3_600_000;
  for (const hours of [1, 2, 4]) {
    const transaction = await open(accountId, NOON_MS + hours * hourMs);
    await settleTransaction(ledgerAt(NOON_MS), transaction, { status: "success" }, deadlineIn(9_000));
  }
  const stillOpen = await open(accountId, NOON_MS + 3 * hourMs);
  const later = ledgerAt(NOON_MS + 24 * hourMs);
  const keep = async () => reconcileAndCheckpoint(later, await readCheckpoint(later, accountId));
  expect(await keep()).toMatchObject({ kind: "reconciled", reconciliation: { difference_kobo: 0 } });
  expect(await readCheckpoint(later, accountId)).toMatchObject({
    up_to: isoTime(NOON_MS + 4 * hourMs),
    sum_kobo: 300_000,
    version: 5,
    open_keys: [stillOpen.pk],
  });
  const failed = { status: "failed", failure: { code: "delivery_failed" } } as const;
  await settleTransaction(later, stillOpen, failed, deadlineIn(9_000));
  expect(await reconcileWallet(later, accountId)).toMatchObject({ expected_kobo: 350_000, difference_kobo: 0 });
  expect(await keep()).toMatchObject({ kind: "reconciled", reconciliation: { difference_kobo: 0 } });
  expect(await readCheckpoint(later, accountId)).toMatchObject({
    up_to: isoTime(NOON_MS + 4 * hourMs),
    sum_kobo: 350_000,
    version: 6,
    open_keys: [],
  });
});

/** Runs `watchLedger` and returns what it logged of checks that it could not refund. */
const notRefundedBy = async (ledger: Ledger): Promise<unknown[]> => {
  const spy = vi.spyOn(console, "log").mockImplementation(() => undefined);
  await reconcileLedger(ledger, deadlineIn(300_000));
  const lines = spy.mock.calls.map(([line]): unknown => JSON.parse(String(line)));
  spy.mockRestore();
  return lines.filter((line) => z.object({ event: z.literal("identity_check.not_refunded") }).safeParse(line).success);
};

test("a check whose wallet is gone does not stop the refunds of other accounts", async () => {
  const [broken, sound] = [await aFundedAccount(1_000), await aFundedAccount(1_000)];
  const stuck = await open(broken, NOON_MS, { type: "nin_verification" });
  const other = await open(sound, NOON_MS + 1_000, { type: "nin_verification" });
  const wallet = { TableName: tables.ledgerTable, Key: { pk: walletPk(broken) } };
  const { Attributes } = await tables.db.send(new DeleteCommand({ ...wallet, ReturnValues: "ALL_OLD" }));
  expect(await notRefundedBy(ledgerAt(NOON_MS + 400_000))).toEqual([
    expect.objectContaining({ level: "error", transaction: stuck.pk }),
  ]);
  expect((await readTransaction(ledgerAt(NOON_MS), other.pk))?.status).toBe("failed");
  expect(await balanceOf(sound)).toBe(1_000);
  await tables.db.send(new PutCommand({ TableName: tables.ledgerTable, Item: Attributes }));
  expect(await notRefundedBy(ledgerAt(NOON_MS + 460_000))).toEqual([]);
  expect(await balanceOf(broken)).toBe(1_000);
});

test("a check whose refund meets conflicts for 3 seconds is left to the next run, and the others are refunded", async () => {
  const [busy, sound] = [await aFundedAccount(1_000), await aFundedAccount(1_000)];
  const stuck = await open(busy, NOON_MS, { type: "nin_verification" });
  const other = await open(sound, NOON_MS + 1_000, { type: "nin_verification" });
  const send = tables.db.send.bind(tables.db);
  const spy = vi.spyOn(tables.db, "send").mockImplementation(async (command, ...options) => {
    const isRefund = command instanceof TransactWriteCommand && JSON.stringify(command.input).includes(stuck.pk);
    if (!isRefund) return send(command, ...options);
    throw Object.assign(new Error("Conflict"), { name: "TransactionConflictException" });
  });
  const begunMs = performance.now();
  const notRefunded = await notRefundedBy(ledgerAt(NOON_MS + 400_000));
  spy.mockRestore();
  expect(performance.now() - begunMs).toBeLessThan(10_000);
  expect(notRefunded).toEqual([expect.objectContaining({ transaction: stuck.pk })]);
  expect((await readTransaction(ledgerAt(NOON_MS), other.pk))?.status).toBe("failed");
  expect(await notRefundedBy(ledgerAt(NOON_MS + 460_000))).toEqual([]);
  expect(await balanceOf(busy)).toBe(1_000);
}, 30_000);

test("a balance that is 1 kobo too high is reported by the second proof, and not by the first", async () => {
  const accountId = await aFundedAccount(1_000);
  await tables.db.send(
    new UpdateCommand({
      TableName: tables.ledgerTable,
      Key: { pk: walletPk(accountId) },
      UpdateExpression: "SET balance_kobo = balance_kobo + :one",
      ExpressionAttributeValues: { ":one": 1 },
    }),
  );
  const dayMs = 24 * 3_600_000;
  expect(await metricsOf(ledgerAt(NOON_MS + 9 * dayMs))).toMatchObject({ LedgerMismatches: 0 });
  expect(await metricsOf(ledgerAt(NOON_MS + 9 * dayMs + 60_000))).toMatchObject({ LedgerMismatches: 1 });
});

test("a proof that meets a write reads again only what may have changed: the open, the new, and no more", async () => {
  const accountId = await aFundedAccount(150_000);
  const hourMs = 3_600_000;
  const ledger = ledgerAt(NOON_MS + 2 * hourMs);
  const transactions = await Promise.all(Array.from({ length: 130 }, (_, index) => open(accountId, NOON_MS + index)));
  const [first, ...others] = transactions;
  for (const transaction of others)
    await settleTransaction(ledger, transaction, { status: "success" }, deadlineIn(9_000));
  const failed = { status: "failed", failure: { code: "delivery_failed" } } as const;

  // After the first look at the open one it fails, and another order is made; after the second look at the index a third one.
  const keysRead: number[] = [];
  const send = tables.db.send.bind(tables.db);
  const spy = vi.spyOn(tables.db, "send").mockImplementation(async (command) => {
    const answer: unknown = await send(command);
    if (!(command instanceof BatchGetCommand)) return answer;
    keysRead.push(command.input.RequestItems?.[tables.ledgerTable]?.Keys?.length ?? 0);
    if (keysRead.length === 2 && first !== undefined) {
      await settleTransaction(ledger, first, failed, deadlineIn(9_000));
      await open(accountId, ledger.clock());
    }
    if (keysRead.length === 4) await open(accountId, ledger.clock());
    return answer;
  });
  const proof = await reconcileWallet(ledger, accountId);
  spy.mockRestore();
  expect(proof).toEqual({ balance_kobo: 8_450_000, expected_kobo: 8_450_000, difference_kobo: 0 });
  // The funding and the orders; the open one and the second; the second and the third.
  expect(keysRead).toEqual([1, 100, 30, 2, 2]);
});
