import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { auditEntry, auditPut, readAudit } from "../../../../shared/ledger/audit.ts";
import { firstCheckpoint, writeCheckpoint } from "../../../../shared/ledger/checkpoint.ts";
import {
  adjustWallet,
  fundWallet,
  readAdjustment,
  readEntryAmounts,
  readFunding,
  recordEntry,
} from "../../../../shared/ledger/ledger-entry.ts";
import { ALL_TIMES } from "../../../../shared/ledger/query-index.ts";
import { walletPk } from "../../../../shared/ledger/schema.ts";
import { walletRestriction } from "../../../../shared/ledger/wallet.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { faultyLedgerForTests, TRIES } from "../../../builders/ledger/faulty-ledger.ts";
import { type OperatorLedger, openOperatorLedger } from "../../../builders/ledger/operator-ledger.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

/** Goal: a funding or an adjustment changes its wallet once, or is refused, whatever its write meets. */
const ledger = await faultyLedgerForTests();

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
    const accountId = await ledger.aWallet(100);
    const seen = ledger.neverFree();
    await expect(recordEntry(ledger, anEntry(accountId, -1))).rejects.toThrow();
    expect(seen.writes).toBe(3);
    ledger.proxy.fault = () => undefined;
    expect(await ledger.balanceOf(accountId)).toBe(100);
  });

  test("a negative adjustment takes the last kobo, and not a kobo more than the balance", async () => {
    const accountId = await ledger.aWallet(100);
    const seen = ledger.firstWrites(0, "conflict");
    expect(await recordEntry(ledger, anEntry(accountId, -10_001))).toEqual({ kind: "insufficient_balance" });
    expect(seen.writes).toBe(1);
    expect(await recordEntry(ledger, anEntry(accountId, -10_000))).toEqual({ kind: "recorded" });
    expect(await ledger.balanceOf(accountId)).toBe(0);
  });

  test("an entry changes the wallet of a restricted account too, because an operator corrects it", async () => {
    const accountId = await ledger.aWallet(100);
    await ledger.db.update(walletRestriction(ledger.table, accountId, true, NOON_MS).Update);
    expect(await recordEntry(ledger, anEntry(accountId, -6_000))).toEqual({ kind: "recorded" });
    expect(await recordEntry(ledger, anEntry(accountId, 1_000))).toEqual({ kind: "recorded" });
    expect(await recordEntry(ledger, anEntry(accountId, -5_001))).toEqual({ kind: "insufficient_balance" });
    expect(await ledger.balanceOf(accountId)).toBe(50);
  });

  test("an entry is recorded with its reason and its audit entry, or neither is", async () => {
    const accountId = await ledger.aWallet(100);
    const audit = (why: string) =>
      auditPut(ledger, auditEntry({ audit_log: accountId, by: "ada", action: "wallet adjust", why }, NOON_MS));
    const entry = { ...anEntry(accountId, -10_000), why: "ticket 88" };
    expect(await recordEntry(ledger, entry, audit("ticket 88"))).toEqual({ kind: "recorded" });
    expect(await recordEntry(ledger, entry)).toMatchObject({ kind: "already_recorded", entry });
    expect(await recordEntry(ledger, anEntry(accountId, -1), audit("ticket 89"))).toEqual({
      kind: "insufficient_balance",
    });
    expect((await readAudit(ledger, accountId)).map(({ why }) => why)).toEqual(["ticket 88"]);
  });

  test("an entry for a wallet that does not exist is an error, not an insufficient balance", async () => {
    await expect(recordEntry(ledger, anEntry("acc_without_wallet", 1))).rejects.toMatchObject({
      CancellationReasons: [{ Code: "None" }, { Code: "ConditionalCheckFailed" }],
    });
  });

  test("an entry of a machine whose clock is slow is dated a millisecond after the wallet's checkpoint", async () => {
    const accountId = await ledger.aWallet(0);
    await writeCheckpoint(ledger, { ...firstCheckpoint(accountId), up_to: isoTime(NOON_MS + 60_000) });
    const entry = anEntry(accountId, 100);
    await recordEntry(ledger, entry);
    expect(await recordEntry(ledger, entry)).toMatchObject({ entry: { created_at: isoTime(NOON_MS + 60_001) } });
  });

  test("an entry whose write never arrives is an error, not an insufficient balance", async () => {
    const accountId = await ledger.aWallet(100);
    const seen = ledger.firstWrites(99, "never_arrives");
    await expect(recordEntry(ledger, anEntry(accountId, -1))).rejects.toThrow();
    expect(seen.writes).toBe(TRIES);
    ledger.proxy.fault = () => undefined;
    expect(await ledger.balanceOf(accountId)).toBe(100);
  });
  test("an entry whose answers are lost is an error, and is found when it is repeated", async () => {
    const accountId = await ledger.aWallet(100);
    const entry = anEntry(accountId, -1);
    ledger.firstWrites(99, "answer_lost");
    await expect(recordEntry(ledger, entry)).rejects.toThrow();
    ledger.proxy.fault = () => undefined;
    expect(await recordEntry(ledger, entry)).toMatchObject({ kind: "already_recorded", entry });
    expect(await ledger.balanceOf(accountId)).toBe(99.99);
  });

  test("an entry that is refused while its first copy may still land is an error, not an insufficient balance", async () => {
    const accountId = await ledger.aWallet(100);
    const entry = anEntry(accountId, -20_000);
    ledger.firstTries(1, "lands_late");
    await expect(recordEntry(ledger, entry)).rejects.toThrow();
    await fundWallet(ledger, { accountId, fundingId: randomUUID(), amountKobo });
    await ledger.proxy.landLateWrites();
    expect(await ledger.balanceOf(accountId)).toBe(0);
    expect(await recordEntry(ledger, entry)).toMatchObject({ kind: "already_recorded", entry });
  });

  test("an entry of a closed account is refused with its reason, also a negative one", async () => {
    const accountId = await ledger.aWallet(100);
    await changeItem(ledger, walletPk(accountId), { closed: true });
    for (const amount of [1, -1]) {
      await expect(recordEntry(ledger, anEntry(accountId, amount))).rejects.toThrow(`${accountId} is closed`);
    }
    expect(await readEntryAmounts(ledger, accountId, ALL_TIMES)).toEqual([]);
  });

  test("an entry is read by its id, and its amount with those of its account", async () => {
    const accountId = await ledger.aWallet(100);
    const fundingId = randomUUID();
    await fundWallet(ledger, { accountId, fundingId, amountKobo });
    await adjustWallet(ledger, { accountId, adjustmentId: "case-1", amount_kobo: -5, why: "ticket 88" });
    const at = { account_id: accountId, created_at: isoTime(NOON_MS) };
    expect(await readFunding(ledger, fundingId)).toMatchObject({ ...at, kind: "funding", amount_kobo: 100_00 });
    expect(await readAdjustment(ledger, accountId, "case-1")).toMatchObject({
      ...{ ...at, kind: "adjustment", amount_kobo: -5, why: "ticket 88" },
    });
    expect([await readFunding(ledger, "case-1"), await readAdjustment(ledger, "acc_1", "case-1")]).toEqual([
      ...[undefined, undefined],
    ]);
    const amounts = (await readEntryAmounts(ledger, accountId, ALL_TIMES)).map(({ amount_kobo }) => amount_kobo);
    expect(amounts.toSorted((one, other) => one - other)).toEqual([-5, 100_00]);
    expect(await readEntryAmounts(ledger, accountId, { from: "0000", to: "2000" })).toEqual([]);
  });
});

describe("concurrent entries", () => {
  let operator: OperatorLedger;
  beforeAll(async () => {
    operator = await openOperatorLedger();
  });

  const adjust = (accountId: string, naira: number, adjustmentId: string) =>
    adjustWallet(operator.ledgerAt(), { accountId, adjustmentId, amount_kobo: naira * 100, why: "ticket 88" });

  const fund = (accountId: string, fundingId: string, naira = 300) =>
    fundWallet(operator.ledgerAt(), { accountId, fundingId, amountKobo: koboFromNaira(naira) });

  test("a bank transfer is credited to one account only, by 10 operators at once and by one after the other", async () => {
    const accounts = [await operator.anAccount(), await operator.anAccount()];
    const id = `bank-${randomUUID()}`;
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, index) => fund(accounts[index % 2]?.accountId ?? "", id)),
    );
    expect(results.filter(({ kind }) => kind === "recorded")).toHaveLength(1);
    const balances = await Promise.all(accounts.map(({ balance }) => balance()));
    expect(balances.toSorted((one, other) => one - other)).toEqual([1_000, 1_300]);
    const [credited, other] = balances[0] === 1_300 ? accounts : accounts.toReversed();
    expect(await fund(other?.accountId ?? "", id)).toMatchObject({
      kind: "already_recorded",
      entry: { account_id: credited?.accountId, amount_kobo: 300_00, created_at: isoTime(NOON_MS) },
    });
    for (const { isReconciled } of accounts) expect(await isReconciled()).toBe(true);
  });

  test("a bank transfer whose reference is typed in another case is the same transfer", async () => {
    const { accountId, balance } = await operator.anAccount();
    const id = `gtb-${randomUUID()}`;
    expect(await fund(accountId, id)).toEqual({ kind: "recorded" });
    expect(await fund(accountId, id.toUpperCase())).toMatchObject({
      kind: "already_recorded",
      entry: { entry_id: id },
    });
    expect(await balance()).toBe(1_300);
  });

  test("an adjustment's id belongs to its account: the same id of another account is another adjustment", async () => {
    const [one, other] = [await operator.anAccount(), await operator.anAccount()];
    expect(await adjust(one.accountId, 50, "case-1")).toEqual({ kind: "recorded" });
    expect(await adjust(other.accountId, 50, "case-1")).toEqual({ kind: "recorded" });
  });
});
