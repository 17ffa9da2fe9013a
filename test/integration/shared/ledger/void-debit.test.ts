import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import { settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { voidDebit } from "../../../../shared/ledger/void-debit.ts";
import { readWallet } from "../../../../shared/ledger/wallet.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { faultyLedgerForTests } from "../../../builders/ledger/faulty-ledger.ts";

/** Goal: a debit is made or void, and never both, in whatever order the two writes arrive. */
const ledger = await faultyLedgerForTests();

const enough = () => deadlineIn(20_000);

test.each(["live", "test"] as const)("a void debit of mode %s cannot be made any more", async (mode) => {
  const accountId = await ledger.aWallet(1_000);
  const counted = { day: "2026-11-21", key_id: "key_0000000000000001" };
  const transaction = { ...ledger.aTransaction(accountId, { mode }), counted };
  const voided = await voidDebit(ledger, transaction, enough());
  expect(voided).toMatchObject({ kind: "void", transaction: { pk: transaction.pk, status: "failed", debit: "void" } });
  expect(voided).not.toHaveProperty("transaction.open");
  expect(voided).not.toHaveProperty("transaction.counted");
  expect(await openTransaction(ledger, transaction, [], enough())).toMatchObject({ kind: "void" });
  expect(await readTransaction(ledger, transaction.pk)).toMatchObject({ status: "failed", debit: "void" });
  expect(await readWallet(ledger, accountId)).toMatchObject({ balance_kobo: 100_000, version: 0 });
});

test("a debit that was made is not void, and keeps its state", async () => {
  const transaction = await ledger.anOpenTransaction();
  expect(await voidDebit(ledger, transaction, enough())).toEqual({ kind: "exists", transaction });
  await settleTransaction(ledger, transaction, { status: "success" }, enough());
  expect(await voidDebit(ledger, transaction, enough())).toMatchObject({
    kind: "exists",
    transaction: { status: "success" },
  });
});

test("another request's transaction with the same key is left as it is", async () => {
  const transaction = await ledger.anOpenTransaction();
  expect(await voidDebit(ledger, { ...transaction, write_token: randomUUID() }, enough())).toEqual({
    kind: "exists",
    transaction,
  });
  expect(await readTransaction(ledger, transaction.pk)).toEqual(transaction);
});

test("a void whose answer was lost, or that is written again, is stored once", async () => {
  const transaction = ledger.aTransaction(await ledger.aWallet(1_000));
  let puts = 0;
  ledger.proxy.fault = ({ operation }) => {
    if (operation !== "PutItem") return undefined;
    puts += 1;
    return puts === 1 ? "answer_lost" : undefined;
  };
  const voided = await voidDebit(ledger, transaction, enough());
  expect(voided).toMatchObject({
    kind: "exists",
    transaction: { write_token: transaction.write_token, debit: "void" },
  });
  expect(puts).toBe(2);
  ledger.nowMs += 60_000;
  expect(await voidDebit(ledger, transaction, enough())).toEqual(voided);
});

test("a void waits for a write that holds the item", async () => {
  const transaction = ledger.aTransaction(await ledger.aWallet(1_000));
  let puts = 0;
  ledger.proxy.fault = ({ operation }) => {
    if (operation !== "PutItem") return undefined;
    puts += 1;
    return puts <= 2 ? "conflict" : undefined;
  };
  expect(await voidDebit(ledger, transaction, enough())).toMatchObject({ kind: "void" });
  expect(puts).toBe(3);
});

test("a void without an answer is indeterminate", async () => {
  const transaction = ledger.aTransaction(await ledger.aWallet(1_000));
  ledger.proxy.fault = ({ operation }) => (operation === "PutItem" ? "never_arrives" : undefined);
  expect(await voidDebit(ledger, transaction, enough())).toEqual({ kind: "indeterminate" });
});
