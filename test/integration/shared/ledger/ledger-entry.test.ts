import { randomUUID } from "node:crypto";
import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { auditEntry } from "../../../../shared/ledger/audit.ts";
import { fundWallet, recordEntry } from "../../../../shared/ledger/ledger-entry.ts";
import { koboFromNaira } from "../../../../shared/platform/money.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { type FaultyLedger, NOON_MS, openFaultyLedger, TRIES } from "../../../builders/faulty-ledger.ts";

/** Goal: a funding or an adjustment changes its wallet once, or is refused, whatever its write meets. */
let ledger: FaultyLedger;
beforeAll(async () => {
  ledger = await openFaultyLedger();
});
beforeEach(() => ledger.reset());
afterAll(() => ledger.proxy.stop());

const itemAt = async (pk: string): Promise<unknown> =>
  (await ledger.db.send(new GetCommand({ TableName: ledger.table, Key: { pk } }))).Item;

describe("recordEntry", () => {
  const amountKobo = koboFromNaira(100);
  const anEntry = (account_id: string, amount_kobo: number) =>
    ({ kind: "adjustment", account_id, entry_id: randomUUID(), amount_kobo }) as const;

  test("an entry that meets a conflict is recorded by the next attempt, once", async () => {
    const accountId = await ledger.aWallet(0);
    ledger.firstWrites(1, "conflict");
    const fundingId = randomUUID();
    expect(await fundWallet(ledger, { accountId, fundingId, amountKobo })).toEqual({ kind: "recorded" });
    expect(await fundWallet(ledger, { accountId, fundingId, amountKobo })).toMatchObject({
      kind: "already_recorded",
      entry: { entry_id: fundingId, amount_kobo: amountKobo, created_at: isoTime(NOON_MS) },
    });
    expect(await ledger.balanceOf(accountId)).toBe(100);
  });

  test("an entry that meets only conflicts is given up after 10 s with an error", async () => {
    const accountId = await ledger.aWallet(0);
    const seen = ledger.neverFree();
    await expect(fundWallet(ledger, { accountId, fundingId: randomUUID(), amountKobo })).rejects.toThrow();
    expect(seen.writes).toBe(3);
    ledger.proxy.fault = () => undefined;
    expect(await ledger.balanceOf(accountId)).toBe(0);
  });

  test("a negative adjustment takes the last kobo, and not a kobo more than the balance", async () => {
    const accountId = await ledger.aWallet(100);
    const seen = ledger.firstWrites(0, "conflict");
    expect(await recordEntry(ledger, anEntry(accountId, -10_001))).toEqual({ kind: "insufficient_balance" });
    expect(seen.writes).toBe(1);
    expect(await recordEntry(ledger, anEntry(accountId, -10_000))).toEqual({ kind: "recorded" });
    expect(await ledger.balanceOf(accountId)).toBe(0);
  });

  test("an entry is recorded with its reason and its audit entry, or neither is", async () => {
    const accountId = await ledger.aWallet(100);
    const audit = auditEntry({ subject: accountId, by: "ada", action: "wallet adjust" }, NOON_MS);
    const entry = { ...anEntry(accountId, -10_000), why: "ticket 88" };
    expect(await recordEntry(ledger, entry, audit)).toEqual({ kind: "recorded" });
    expect(await itemAt(audit.pk)).toEqual(audit);
    expect(await recordEntry(ledger, entry)).toMatchObject({ kind: "already_recorded", entry });
    const refused = auditEntry({ subject: accountId, by: "ada", action: "wallet adjust" }, NOON_MS);
    expect(await recordEntry(ledger, anEntry(accountId, -1), refused)).toEqual({ kind: "insufficient_balance" });
    expect(await itemAt(refused.pk)).toBeUndefined();
  });

  test("an entry for a wallet that does not exist is an error, not an insufficient balance", async () => {
    await expect(recordEntry(ledger, anEntry("acc_without_wallet", 1))).rejects.toThrow();
  });

  test("an entry whose write never arrives is an error, not an insufficient balance", async () => {
    const accountId = await ledger.aWallet(100);
    const seen = ledger.firstWrites(99, "never_arrives");
    await expect(recordEntry(ledger, anEntry(accountId, -1))).rejects.toThrow();
    expect(seen.writes).toBe(TRIES);
    ledger.proxy.fault = () => undefined;
    expect(await ledger.balanceOf(accountId)).toBe(100);
  });
});
