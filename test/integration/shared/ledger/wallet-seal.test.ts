import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import * as z from "#zod";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { getItem } from "../../../../shared/ledger/get-item.ts";
import { adjustWallet, fundWallet } from "../../../../shared/ledger/ledger-entry.ts";
import { openTransaction } from "../../../../shared/ledger/open-transaction.ts";
import { consentPk } from "../../../../shared/ledger/schema.ts";
import { NOT_DELIVERED, settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { sealWallet } from "../../../../shared/ledger/wallet-seal.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { resolveTransaction } from "../../../../shared/upstream-events/operator-resolution.ts";
import { faultyLedgerForTests } from "../../../builders/ledger/faulty-ledger.ts";
import { decision } from "../../../builders/ledger/operator-ledger.ts";
import { readStatement } from "../../../builders/ledger/statement.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

/**
 * Goal: nothing is booked at a time that is sealed, by a slow clock or a write that landed late. Method: the clock
 * stands at noon, and the wallet is sealed until noon or later.
 */
const ledger = await faultyLedgerForTests();

const enough = () => deadlineIn(29_000);
const NOON = isoTime(NOON_MS);
const after = (ms: number): string => isoTime(NOON_MS + ms);

const linesUntil = async (accountId: string, to: string) =>
  (await readStatement(ledger, accountId, { from: "0000", to })).lines.map(({ kind, at }) => ({ kind, at }));

test("a debit whose write lands after its time was sealed is dated after the seal", async () => {
  const accountId = await ledger.aWallet(500);
  const transaction = ledger.aTransaction(accountId, { created_at: NOON, listed_at: NOON });
  await sealWallet(ledger, accountId, NOON);
  ledger.nowMs = NOON_MS + 90_000;
  expect(await openTransaction(ledger, transaction, [], enough())).toEqual({ kind: "opened" });
  const dated = { created_at: after(90_000), updated_at: after(90_000), listed_at: after(90_000) };
  expect(await readTransaction(ledger, transaction.pk)).toEqual({ ...transaction, ...dated });
  expect(await linesUntil(accountId, NOON)).toEqual([]);
  expect(await linesUntil(accountId, "9999")).toEqual([{ kind: "data", at: after(90_000) }]);
});

test("the consent of a check that is dated after the seal has its time too", async () => {
  const accountId = await ledger.aWallet(500);
  const transaction = ledger.aTransaction(accountId, { type: "nin_verification", created_at: NOON, listed_at: NOON });
  await sealWallet(ledger, accountId, NOON);
  const consent = { pk: consentPk(transaction), account_id: accountId, created_at: NOON };
  expect(await openTransaction(ledger, transaction, [consent], enough())).toEqual({ kind: "opened" });
  const stored = await getItem(ledger, consent.pk, z.object({ created_at: z.string() }));
  expect(stored?.created_at).toBe((await readTransaction(ledger, transaction.pk))?.created_at);
  expect(stored?.created_at).toBe(after(1));
});

test("each kind of line that a slow clock dates in a sealed time is booked right after the seal", async () => {
  const transaction = await ledger.anOpenTransaction();
  const { account_id: accountId } = transaction;
  await sealWallet(ledger, accountId, after(5_000));
  await settleTransaction(ledger, transaction, NOT_DELIVERED, enough());
  await sealWallet(ledger, accountId, after(60_000));
  await fundWallet(ledger, { accountId, fundingId: randomUUID(), amountKobo: koboFromNaira(1) });
  await sealWallet(ledger, accountId, after(70_000));
  const adjustment = { accountId, adjustmentId: "case", amount_kobo: -100, why: "test" };
  expect(await adjustWallet(ledger, adjustment)).toEqual({ kind: "recorded" });
  expect(await linesUntil(accountId, "9999")).toEqual([
    { kind: "data", at: transaction.created_at },
    { kind: "refund", at: after(5_001) },
    { kind: "funding", at: after(60_001) },
    { kind: "adjustment", at: after(70_001) },
  ]);
});

test("an operator's refund that a seal refuses is dated after it", async () => {
  const transaction = await ledger.anOpenTransaction({ created_at: after(-60_000), updated_at: after(-60_000) });
  await sealWallet(ledger, transaction.account_id, after(5_000));
  await resolveTransaction(ledger, transaction, "failed", decision);
  expect(await linesUntil(transaction.account_id, "9999")).toMatchObject([{}, { kind: "refund", at: after(5_001) }]);
});

test("an adjustment below zero is refused by the balance of a sealed wallet too", async () => {
  const accountId = await ledger.aWallet(1);
  await sealWallet(ledger, accountId, NOON);
  const adjustment = { accountId, adjustmentId: "case", amount_kobo: -101, why: "test" };
  expect(await adjustWallet(ledger, adjustment)).toEqual({ kind: "insufficient_balance" });
  const poor = ledger.aTransaction(accountId, { created_at: NOON });
  expect(await openTransaction(ledger, poor, [], enough())).toEqual({ kind: "insufficient_balance" });
});

test.each(["lands_late", "answer_lost"] as const)(
  "a debit whose first write got no answer (%s) and that a seal refuses then is void, and never lands",
  async (fault) => {
    const transaction = ledger.aTransaction(await ledger.aWallet(1_000), { created_at: NOON });
    const { account_id: accountId } = transaction;
    await sealWallet(ledger, accountId, NOON);
    ledger.firstTries(1, fault);
    expect(await openTransaction(ledger, transaction, [], enough())).toMatchObject({ kind: "void" });
    await ledger.proxy.landLateWrites();
    expect(await readTransaction(ledger, transaction.pk)).toMatchObject({ status: "failed", debit: "void" });
    expect(await linesUntil(accountId, "9999")).toEqual([]);
    expect(await ledger.balanceOf(accountId)).toBe(1_000);
  },
);
