import { describe, expect, test } from "vitest";
import { ALL_ENTITLEMENTS } from "../../../../shared/contract/permission.ts";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { auditEntry, auditPut, readAudit } from "../../../../shared/ledger/audit.ts";
import { setLowBalanceThreshold } from "../../../../shared/ledger/low-balance-threshold.ts";
import { walletPk } from "../../../../shared/ledger/schema.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { getWallet } from "../../../../shared/read-account/read-account.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { faultyLedgerForTests, isWrite } from "../../../builders/ledger/faulty-ledger.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

/** Goal: an account sees its one wallet as it is, with the threshold that its operator set. */
const ledger = await faultyLedgerForTests();

const setThreshold = (accountId: string, naira: number | undefined): Promise<void> => {
  const audit = auditPut(ledger, auditEntry({ audit_log: accountId, by: "ada", action: "wallet threshold" }, NOON_MS));
  return setLowBalanceThreshold(ledger, accountId, naira === undefined ? undefined : koboFromNaira(naira), audit);
};

const walletOf = async (accountId: string, mode: "live" | "test" = "live") =>
  (await getWallet(ledger)({ caller: { accountId, keyId: "key_1", mode, entitlements: ALL_ENTITLEMENTS } })).data
    .wallet;

test("GET /wallet shows the wallet in NGN, read strongly, with a live key", async () => {
  const accountId = await ledger.aWallet(99_500.5);
  const reads: string[] = [];
  ledger.proxy.fault = ({ body }) => void reads.push(body);
  expect(await walletOf(accountId)).toEqual({
    currency: "NGN",
    balance: 99_500.5,
    low_balance_threshold: null,
    updated_at: isoTime(NOON_MS),
  });
  expect(reads).toHaveLength(1);
  expect(reads[0]).toContain('"ConsistentRead":true');
});

test("GET /wallet with a test key shows a made-up wallet, and nothing of the account's", async () => {
  const accountId = await ledger.aWallet(99_500.5);
  await setThreshold(accountId, 250.5);
  expect(await walletOf(accountId, "test")).toEqual({
    currency: "NGN",
    balance: 100_000,
    low_balance_threshold: null,
    updated_at: "2026-01-01T00:00:00.000Z",
  });
});

describe("setLowBalanceThreshold", () => {
  test("a threshold is shown until it is removed, each change is audited, and balance and time stay", async () => {
    const accountId = await ledger.aWallet(1_000);
    const before = await walletOf(accountId);
    ledger.nowMs += 60_000;
    await setThreshold(accountId, 250.5);
    expect(await walletOf(accountId)).toEqual({ ...before, low_balance_threshold: 250.5 });
    await setThreshold(accountId, undefined);
    expect(await walletOf(accountId)).toEqual(before);
    expect(await readAudit(ledger, accountId)).toHaveLength(2);
  });

  test("a threshold is given up after 10 s if the wallet is never free, and its account is not taken for a closed one", async () => {
    const accountId = await ledger.aWallet(1_000);
    const seen = ledger.neverFree();
    await expect(setThreshold(accountId, 10)).rejects.toMatchObject({ name: "TransactionCanceledException" });
    expect(seen.writes).toBe(3);
  });

  test("a threshold for a wallet that does not exist is refused at once and not audited", async () => {
    const seen = ledger.firstWrites(0, "conflict");
    await expect(setThreshold("acc_none", 10)).rejects.toThrow("The account has no wallet");
    expect(seen.writes).toBe(1);
    expect(await readAudit(ledger, "acc_none")).toEqual([]);
  });

  test("a threshold that is refused while its first copy may still land is an error, not a refusal", async () => {
    const accountId = await ledger.aWallet(0);
    await changeItem(ledger, walletPk(accountId), { closed: true, restricted: true });
    ledger.firstTries(1, "lands_late");
    await expect(setThreshold(accountId, 10)).rejects.toMatchObject({ name: "TransactionCanceledException" });
    await changeItem(ledger, walletPk(accountId), { closed: undefined });
    await ledger.proxy.landLateWrites();
    expect(await walletOf(accountId)).toMatchObject({ low_balance_threshold: 10 });
  });

  test.each([
    ["answer_lost", "answer_lost"],
    ["answer_lost", "conflict"],
  ] as const)("a threshold that was set although no answer came is recorded once: %s, then %s", async (...faults) => {
    const accountId = await ledger.aWallet(0);
    const left = [...faults];
    ledger.proxy.fault = ({ operation }) => (isWrite(operation) ? left.shift() : undefined);
    await setThreshold(accountId, 10);
    expect(left).toEqual([]);
    expect(await walletOf(accountId)).toMatchObject({ low_balance_threshold: 10 });
    expect(await readAudit(ledger, accountId)).toHaveLength(1);
  });

  test("a threshold for an account that closed since it was read is refused by the write, and not audited", async () => {
    const accountId = await ledger.aWallet(0);
    await changeItem(ledger, walletPk(accountId), { closed: true, restricted: true });
    for (const naira of [10, undefined]) {
      await expect(setThreshold(accountId, naira)).rejects.toThrow(`The account ${accountId} is closed`);
    }
    expect(await walletOf(accountId)).toMatchObject({ low_balance_threshold: null });
    expect(await readAudit(ledger, accountId)).toEqual([]);
  });
});
